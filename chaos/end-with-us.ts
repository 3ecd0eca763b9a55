/*
 * Loaded into every role before its own code, which stays as it is in life: no process outlives the run that started it. One
 * that is only now coming up may have missed the end. By a signal, because an ordinary exit writes out the log first, and waits
 * for a reader that is gone.
 */
const end = (): void => void process.kill(process.pid, 'SIGKILL');

if (!process.connected) end();
process.once('disconnect', end);

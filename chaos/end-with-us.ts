/* Loaded into every role before its own code, which stays as it is in life: no process outlives the run that started it. */
process.once('disconnect', () => process.exit(1));

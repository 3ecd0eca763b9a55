/*
 * Loaded into every process of the bench before its own code, which stays as it is in life: it answers what the process
 * has used, and ends it when the bench is gone.
 */

export interface Usage {
  readonly rssBytes: number;
  readonly cpuMs: number;
}

process.on('message', (message) => {
  if ((message as { attend?: string }).attend !== 'usage') return;
  const { user, system } = process.cpuUsage();
  const usage: Usage = { rssBytes: process.memoryUsage.rss(), cpuMs: (user + system) / 1_000 };
  process.send?.(usage);
});
process.once('disconnect', () => process.exit(1));

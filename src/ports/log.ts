/** What happened, for whoever reads the logs. Personal data in fields is taken out before it is written. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** The same log with these fields on every line. */
  child(fields: object): Log;
}

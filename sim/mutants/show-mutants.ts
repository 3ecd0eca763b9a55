export const showMutants = (...args: unknown[]): void => void args;

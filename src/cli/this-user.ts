import { userInfo } from 'node:os';

/** The name of whoever runs the command, for what is kept of who ordered what. */
export function thisUser(): string {
  try {
    return userInfo().username;
  } catch (error) {
    throw new Error('this machine does not say who you are: name yourself with --who', { cause: error });
  }
}

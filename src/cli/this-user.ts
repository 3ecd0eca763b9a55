import { userInfo } from 'node:os';

/** The name of the operator who runs the command, for the record of who ordered what. */
export function thisUser(): string {
  try {
    return userInfo().username;
  } catch (error) {
    throw new Error('this machine does not say who you are: name yourself with --who', { cause: error });
  }
}

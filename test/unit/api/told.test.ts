import { expect, it } from 'vitest';
import { told } from '../../../src/api/told.ts';
import { LockLostError, ProcessorBusyError, WriteUnknownError } from '../../../src/errors.ts';

it.each([
  ['somebody else has the user now', new LockLostError('lost'), 'user-busy'],
  ['nobody knows whether it was written', new WriteUnknownError('lost'), 'service-down'],
  ['the processor is to be spared', new ProcessorBusyError(1), 'service-down'],
])('%s: the caller is asked to come again', async (_why, error, code) => {
  await expect(told(Promise.reject(error))).rejects.toMatchObject({ code });
});

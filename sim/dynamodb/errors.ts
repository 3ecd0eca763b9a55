import {
  ConditionalCheckFailedException,
  DynamoDBServiceException,
  IdempotentParameterMismatchException,
  ResourceInUseException,
  ResourceNotFoundException,
  TransactionCanceledException,
  type AttributeValue,
  type CancellationReason,
} from '@aws-sdk/client-dynamodb';

/** An error without a status would look like a lost connection, after which the caller does not know what was done. */
const $metadata = { httpStatusCode: 400 };

/** The SDK has no class for it: it makes one of the common class with this name. */
export const invalid = (message: string): DynamoDBServiceException =>
  new DynamoDBServiceException({ name: 'ValidationException', $fault: 'client', message, $metadata });

export const isInvalid = (error: unknown): error is DynamoDBServiceException =>
  error instanceof DynamoDBServiceException && error.name === 'ValidationException';

export const noSuchResource = (message: string): Error =>
  new ResourceNotFoundException({ message, $metadata });

export const resourceInUse = (message: string): Error => new ResourceInUseException({ message, $metadata });

export const refused = (item: Readonly<Record<string, AttributeValue>> | null): Error =>
  new ConditionalCheckFailedException({
    message: 'The conditional request failed',
    $metadata,
    ...(item === null ? {} : { Item: item }),
  });

export function cancelled(reasons: CancellationReason[]): Error {
  const codes = reasons.map(({ Code }) => Code).join(', ');
  return new TransactionCanceledException({
    message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    CancellationReasons: reasons,
    $metadata,
  });
}

export const tokenOfAnotherRequest = (): Error =>
  new IdempotentParameterMismatchException({
    message: 'The token was used for a request with other parameters',
    $metadata,
  });

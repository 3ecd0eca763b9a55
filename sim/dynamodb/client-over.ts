import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

export type Transport = (
  operation: string,
  input: object,
  options?: { abortSignal?: AbortSignal },
) => Promise<object>;

/** An SDK client whose requests go where `transport` says. No middleware runs, so nothing is signed or sent again. */
export function clientOver(transport: Transport): DynamoDBClient {
  return new TransportedClient(transport);
}

/** The SDK's paginators ask whether it is a `DynamoDBClient`. */
class TransportedClient extends DynamoDBClient {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    super({ region: 'simulated', credentials: { accessKeyId: 'simulated', secretAccessKey: 'simulated' } });
    this.transport = transport;
  }

  override send(command: { readonly input: object }, options?: unknown): never {
    const operation = command.constructor.name.replace(/Command$/, '');
    return this.transport(operation, command.input, options as { abortSignal?: AbortSignal }) as never;
  }
}

import { z } from 'zod';

const endpoint = z.url({ protocol: /^https?$/ });
const WHOLE_PORT = /^\d{1,5}$/;

const settings = {
  SANDBOX_PORT: {
    allowed: 'a whole number from 0 to 65535 (0 = any free port)',
    schema: z.string().regex(WHOLE_PORT).transform(Number).pipe(z.number().max(65_535)).default(4000),
  },
  SANDBOX_HOST: { allowed: 'a host name or address', schema: z.string().default('127.0.0.1') },
  SANDBOX_DATA_DIR: { allowed: 'a folder', schema: z.string().default('.data/sandbox') },
  PAYMENTS_STREAM: {
    allowed: 'a Kinesis stream name: up to 128 of A-Z a-z 0-9 _ . -',
    schema: z
      .string()
      .regex(/^[\w.-]{1,128}$/)
      .default('site-payments'),
  },
  AWS_ENDPOINT_URL_KINESIS: { allowed: 'an http or https URL, or unset', schema: endpoint.optional() },
  DYNAMO_REGION: {
    allowed: 'an AWS region such as us-east-1',
    schema: z
      .string()
      .regex(/^[a-z]{2}(-[a-z]+)+-\d$/)
      .default('us-east-1'),
  },
  LOG_LEVEL: {
    allowed: 'fatal, error, warn, info, debug, trace or silent',
    schema: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  },
} as const;

type Name = keyof typeof settings;

export interface SandboxConfig {
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  readonly paymentsStream: string;
  readonly kinesisEndpoint: string | undefined;
  readonly region: string;
  readonly logLevel: string;
}

/** Thrown when the environment holds a value that is not allowed. The message names each one and what is allowed. */
export class BadEnvironmentError extends Error {}

export function configFrom(env: NodeJS.ProcessEnv): SandboxConfig {
  const wrong: string[] = [];
  const read = <N extends Name>(name: N): z.output<(typeof settings)[N]['schema']> => {
    // Compose files and shells often spell "unset" as an empty value.
    const text = env[name] === '' ? undefined : env[name];
    const result = settings[name].schema.safeParse(text);
    if (!result.success) wrong.push(`${name} must be ${settings[name].allowed}, got "${text}"`);
    return result.data as z.output<(typeof settings)[N]['schema']>;
  };
  const config = {
    port: read('SANDBOX_PORT'),
    host: read('SANDBOX_HOST'),
    dataDir: read('SANDBOX_DATA_DIR'),
    paymentsStream: read('PAYMENTS_STREAM'),
    kinesisEndpoint: read('AWS_ENDPOINT_URL_KINESIS'),
    region: read('DYNAMO_REGION'),
    logLevel: read('LOG_LEVEL'),
  };
  if (wrong.length > 0) throw new BadEnvironmentError(wrong.join('; '));
  return config;
}

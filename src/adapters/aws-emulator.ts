const LOOPBACK = /^https?:\/\/(localhost|127\.|\[::1\])/;

interface EmulatorOptions {
  endpoint?: string;
  credentials?: { accessKeyId: string; secretAccessKey: string };
}

/**
 * Client options for an endpoint that was given by name; none for AWS itself. An emulator on this machine takes any
 * key, but the SDK insists on having one; elsewhere the SDK's own chain finds the real ones.
 */
export function emulator(endpoint: string | undefined): EmulatorOptions {
  if (endpoint === undefined) return {};
  if (!LOOPBACK.test(endpoint)) return { endpoint };
  return { endpoint, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
}

/** The formal minimum of a signature: the emulators look that its parts are there, not that they are right. */
const signature =
  'AWS4-HMAC-SHA256 Credential=local/20200101/us-east-1/local/aws4_request, SignedHeaders=host, Signature=0';

/** Whether an AWS emulator on this port answers the operation. Bare HTTP: here is no need for an SDK. */
export async function answersAwsCall(port: number, target: string): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': target,
        'x-amz-date': '20200101T000000Z',
        authorization: signature,
        connection: 'close',
      },
      body: '{}',
      signal: AbortSignal.timeout(2_000),
    });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

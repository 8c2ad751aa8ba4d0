// Returns an Idempotency-Key. The server executes a request with this key once, however often the
// request is sent.
export function newKey(): string {
  // Browsers offer randomUUID only on https and on loopback.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

// Returns a key (Idempotency-Key) for a request that is executed once, however often it is sent.
export function newKey(): string {
  // randomUUID exists on https and loopback only.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

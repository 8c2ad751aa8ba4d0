// For requests that are done once however often they are sent (Idempotency-Key).
export function newKey(): string {
  // randomUUID is there on https and loopback only.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

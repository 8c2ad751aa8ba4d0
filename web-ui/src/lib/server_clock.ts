// The server's clock, as far as the responses of the API tell it. Countdowns then match what the server does.
let offsetMs = 0;

// The Date header has no fraction of a second, and a response takes time. So smaller differences are ignored.
const OFFSET_MIN_MS = 2000;

export function noteServerTime(date: string | null): void {
  const server = date === null ? NaN : Date.parse(date);
  if (Number.isNaN(server)) return;
  const offset = server - Date.now();
  offsetMs = Math.abs(offset) < OFFSET_MIN_MS ? 0 : offset;
}

// Returns the server's time in milliseconds.
export const serverNow = () => Date.now() + offsetMs;

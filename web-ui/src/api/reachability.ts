// Tracks whether the server answers, and how far its clock is from the browser's clock.
import { useSyncExternalStore } from 'react';

let lostSince: number | null = null;
let offsetMs = 0;
const listeners = new Set<() => void>();
const tell = () => listeners.forEach((listener) => listener());

// The Date header has no fraction of a second, and a response takes time. So smaller differences are ignored.
const OFFSET_MIN_MS = 2000;

export function heard(date: string | null): void {
  const server = date === null ? NaN : Date.parse(date);
  if (!Number.isNaN(server)) {
    const offset = server - Date.now();
    offsetMs = Math.abs(offset) < OFFSET_MIN_MS ? 0 : offset;
  }
  if (lostSince === null) return;
  lostSince = null;
  tell();
}

export function lost(): void {
  if (lostSince !== null) return;
  lostSince = Date.now();
  tell();
}

// Returns the server's time in milliseconds, so that countdowns match what the server does.
export const serverNow = () => Date.now() + offsetMs;

export function useLostSince(): number | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => lostSince,
  );
}

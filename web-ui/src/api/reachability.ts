// Tracks whether the server answers.
import { useSyncExternalStore } from 'react';

let lostSince: number | null = null;
const listeners = new Set<() => void>();
const notify = () => listeners.forEach((listener) => listener());

export function noteAnswer(): void {
  if (lostSince === null) return;
  lostSince = null;
  notify();
}

export function noteLoss(): void {
  if (lostSince !== null) return;
  lostSince = Date.now();
  notify();
}

export function useLostSince(): number | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => lostSince,
  );
}

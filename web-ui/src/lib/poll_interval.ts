// Refresh interval of a page that has a field for it. undefined: each list uses its own interval. false:
// lists are not refreshed.
import { useEffect, useSyncExternalStore } from 'react';
import { usePreferences } from './preferences';

export type Pace = number | false | undefined;

let current: Pace;
const listeners = new Set<() => void>();

function become(pace: Pace): void {
  current = pace;
  listeners.forEach((listener) => listener());
}

export const usePace = (): Pace =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );

// Sets the interval for all lists until the page is left.
export function useOwnPace(pace: Pace): void {
  useEffect(() => {
    become(pace);
    return () => become(undefined);
  }, [pace]);
}

// True if pages refresh by themselves, by polling or by listening to changes.
export function useLive(): boolean {
  const pace = usePace();
  return usePreferences().live && pace !== false;
}

// One tick per second, for all texts that show an age or a countdown.
import { useSyncExternalStore } from 'react';
import { serverNow } from './server_clock';

let now = serverNow();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) now = serverNow(); // nobody has looked for a while
  timer ??= setInterval(() => {
    if (document.hidden) return;
    now = serverNow();
    listeners.forEach((one) => one());
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

export const useNow = () => useSyncExternalStore(subscribe, () => now);

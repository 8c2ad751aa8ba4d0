// The node whose log stands beside the graph. The table and the graph are two parts of the page, and both choose it.
import { useSyncExternalStore } from 'react';

let shown: string | null = null; // the id of the node's run
const listeners = new Set<() => void>();

export function showLog(run: string | null) {
  shown = run;
  for (const listener of listeners) listener();
}

function subscribe(onChange: () => void) {
  listeners.add(onChange);
  return () => void listeners.delete(onChange);
}

export const useShownLog = () => useSyncExternalStore(subscribe, () => shown);

// Which parts of a page have what decides how high they are. What is below them is read and drawn as well, and hidden
// until then: what is seen does not move.
import { useCallback, useEffect, useState } from 'react';

export function useKnown<Part extends string>(): { known: ReadonlySet<Part>; tell: (part: Part) => void } {
  const [known, setKnown] = useState<ReadonlySet<Part>>(new Set());
  const tell = useCallback((part: Part) => setKnown((before) => (before.has(part) ? before : new Set([...before, part]))), []);
  return { known, tell };
}

// Of a part: it tells when it is known, once.
export function useTell(known: boolean, tell: (() => void) | undefined): void {
  useEffect(() => {
    if (known) tell?.();
    // oxlint-disable-next-line react/exhaustive-deps -- whoever is told may be another function each time
  }, [known]);
}

interface Reading { isPending: boolean; failureCount: number }

// Nothing is known of it yet, and nothing has gone wrong: what comes below does not wait for what is tried again.
export const isAwaited = (query: Reading): boolean => query.isPending && query.failureCount === 0;

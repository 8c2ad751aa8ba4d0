// Prevents layout shift: content below a part of unknown height is loaded and rendered, but hidden until
// that height is known.
import { useCallback, useEffect, useState } from 'react';

// What hangs may hang for as long as a request may last: then what is known is worth more than that nothing moves.
const PATIENCE_MS = 2000;

// `isKnown` of everything once `late`.
export function useKnown<Part extends string>(): {
  isKnown: (part: Part) => boolean;
  late: boolean;
  tell: (part: Part) => void;
} {
  const [known, setKnown] = useState<ReadonlySet<Part>>(new Set());
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  const tell = useCallback(
    (part: Part) => setKnown((before) => (before.has(part) ? before : new Set([...before, part]))),
    [],
  );
  return { isKnown: (part) => late || known.has(part), late, tell };
}

// Of a part: it tells when it is known, once.
export function useTell(known: boolean, tell: (() => void) | undefined): void {
  useEffect(() => {
    if (known) tell?.();
    // oxlint-disable-next-line react/exhaustive-deps -- whoever is told may be another function each time
  }, [known]);
}

interface Reading {
  isPending: boolean;
  failureCount: number;
}

// Nothing is known of it yet, and nothing has gone wrong: what comes below does not wait for what is tried again.
export const isAwaited = (query: Reading): boolean => query.isPending && query.failureCount === 0;

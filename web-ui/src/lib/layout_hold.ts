// Prevents layout shift. Content below a part of unknown height is loaded and rendered, but it is hidden
// until that height is known.
import { useCallback, useEffect, useState } from 'react';

// A request may take very long. After this time the content is shown, even if it moves later.
const PATIENCE_MS = 2000;

// When `late` has become true, `isKnown` is true for every part.
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

// Calls `tell` once, when `known` is true.
export function useTell(known: boolean, tell: (() => void) | undefined): void {
  useEffect(() => {
    if (known) tell?.();
    // oxlint-disable-next-line react/exhaustive-deps -- `tell` may be a new function in each render
  }, [known]);
}

interface Reading {
  isPending: boolean;
  failureCount: number;
}

// True until the first request succeeds or fails. If it fails, the parts below do not wait until it
// is repeated.
export const isAwaited = (query: Reading): boolean => query.isPending && query.failureCount === 0;

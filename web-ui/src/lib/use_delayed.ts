import { useEffect, useState } from 'react';

// Returns the value that `value` had `ms` ago, or a newer one. Values are compared as JSON.
export function useDelayed<T>(value: T, ms: number): T {
  const text = JSON.stringify(value);
  const [delayed, setDelayed] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(text), ms);
    return () => clearTimeout(timer);
  }, [text, ms]);
  return JSON.parse(delayed) as T;
}

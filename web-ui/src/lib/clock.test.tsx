import { renderHook } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { useNow } from './clock';

it('whoever looks after a pause sees the present time', () => {
  vi.useFakeTimers();
  try {
    const first = renderHook(() => useNow());
    first.unmount();
    vi.advanceTimersByTime(90_000);
    const again = renderHook(() => useNow());
    expect(again.result.current - first.result.current).toBeGreaterThanOrEqual(90_000);
    again.unmount();
  } finally {
    vi.useRealTimers();
  }
});

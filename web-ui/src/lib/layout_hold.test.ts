import { act, renderHook } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { useKnown } from './layout_hold';

describe('parts of a page', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('a part is shown once the one above it is known', () => {
    const { result } = renderHook(() => useKnown<'first' | 'second'>());
    expect(result.current.isKnown('first')).toBe(false);
    act(() => result.current.tell('first'));
    expect(result.current.isKnown('first')).toBe(true);
    expect(result.current.isKnown('second')).toBe(false);
    expect(result.current.late).toBe(false);
  });

  it('a part does not wait for one that hangs', () => {
    const { result } = renderHook(() => useKnown<'first'>());
    act(() => {
      vi.advanceTimersByTime(1999);
    });
    expect(result.current.isKnown('first')).toBe(false);
    act(() => {
      vi.advanceTimersByTime(1);
    });
    expect(result.current).toMatchObject({ late: true });
    expect(result.current.isKnown('first')).toBe(true);
  });
});

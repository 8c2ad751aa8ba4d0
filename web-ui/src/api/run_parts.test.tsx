import { QueryClientProvider } from '@tanstack/react-query';
import { act, renderHook } from '@testing-library/react';
import type { ReactNode } from 'react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { setPreferences } from '../lib/preferences';
import { queryClient } from './queries';
import { useRunShards } from './shards';
import type { Run } from './types';

const run = (more: object = {}) => ({ run_id: 'r1', attempt: 1, state: 'RUNNING', ...more }) as Run;
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
let reads: number;

// Shows the shards of `first`. The server answers that the run which is asked for is in `state()`, and its `n` shards
// are in `shard()`.
async function show(n: number, state = () => 'RUNNING', first = run(), shard = () => 'COMPLETED') {
  vi.stubGlobal('fetch', (url: string) => {
    reads += 1;
    const run_id = /runs\/(\w+)\//.exec(url)![1];
    const shards = Array.from({ length: n }, (_, index) => ({ index, state: shard() }));
    return Promise.resolve(Response.json({ run_id, state: state(), shards }));
  });
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
  );
  const shown = renderHook(({ of }) => useRunShards(of), { wrapper, initialProps: { of: first } });
  await pass(10);
  return shown;
}

beforeEach(() => {
  vi.useFakeTimers();
  queryClient.clear();
  setPreferences({ live: true });
  reads = 0;
});
afterEach(() => {
  setPreferences({ live: false });
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it('up to a hundred shards are read each second, more in proportion less often', async () => {
  const { unmount } = await show(100);
  await pass(10_000);
  expect(reads).toBe(11);
  unmount();
  queryClient.clear();
  reads = 0;
  await show(1000);
  await pass(9900);
  expect(reads).toBe(1);
  await pass(200);
  expect(reads).toBe(2);
});

it('the end of a run and its next attempt are read at once, and nothing after the end', async () => {
  let state = 'RUNNING';
  const { result, rerender } = await show(1000, () => state);
  state = 'FAILED';
  rerender({ of: run({ state }) });
  expect(result.current.data?.state).toBe('RUNNING'); // the list does not disappear meanwhile
  await pass(10);
  expect(result.current.data?.state).toBe('FAILED');
  expect(reads).toBe(2);
  await pass(60_000);
  expect(reads).toBe(2);
  rerender({ of: run({ state, attempt: 2 }) });
  await pass(10);
  expect(reads).toBe(3);
});

it('after the end LOST shards are read less often, until a late report has come for each', async () => {
  let shard = 'LOST';
  const { result } = await show(
    200,
    () => 'FAILED',
    run({ state: 'FAILED' }),
    () => shard,
  );
  await pass(9900);
  expect(reads).toBe(1);
  shard = 'COMPLETED';
  await pass(200);
  expect(reads).toBe(2);
  expect(result.current.data?.shards[0]?.state).toBe('COMPLETED');
  await pass(60_000);
  expect(reads).toBe(2);
});

it('the shards of one run are never shown as those of another', async () => {
  const { result, rerender } = await show(3);
  rerender({ of: run({ run_id: 'r2' }) });
  expect(result.current.data).toBeUndefined();
  await pass(10);
  expect(result.current.data?.run_id).toBe('r2');
});

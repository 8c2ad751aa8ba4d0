// Values of the parts of a run: how many are in each state, which a filter shows, and where a key leads. Pure.
import { RUN_STATES } from '../../api/types';
import type { RunShard } from '../../api/shards';

const FAILURES = new Set(['FAILED', 'TIMED_OUT', 'LOST', 'CANCELLED', 'HELD', 'SKIPPED']);

// The states that parts are in, in the usual order, each with the number of its parts.
export function countsOf(shards: readonly RunShard[]): [state: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { state } of shards) counts.set(state, (counts.get(state) ?? 0) + 1);
  const known = RUN_STATES.filter((state) => counts.has(state));
  const newer = [...counts.keys()].filter((state) => !(RUN_STATES as readonly string[]).includes(state));
  return [...known, ...newer].map((state) => [state, counts.get(state)!]);
}

// True if a retry of what failed has anything to do. Hosts that do not match any more, or were down at the first
// attempt, do not count.
export const anyFailed = (shards: readonly RunShard[]): boolean =>
  shards.some(
    ({ state, reason, attempt }) =>
      FAILURES.has(state) && reason !== 'no_executor' && (reason !== 'host_down' || attempt > 1),
  );

// The position to which `key` leads from `at`, among `count` cells in rows of `columns`; undefined if the key
// does not move.
export function moved(key: string, at: number, columns: number, count: number): number | undefined {
  const last = count - 1;
  const to = (position: number) => (position < 0 || position > last ? at : position);
  switch (key) {
    case 'ArrowLeft':
      return to(at - 1);
    case 'ArrowRight':
      return to(at + 1);
    case 'ArrowUp':
      return to(at - columns);
    case 'ArrowDown':
      return to(at + columns);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return undefined;
  }
}

// Milliseconds that the part took, or has taken until `now`; null if it has not started.
export function tookMs(shard: RunShard, now: number): number | null {
  if (!shard.started_at) return null;
  const end = shard.ended_at ? Date.parse(shard.ended_at) : now;
  return Math.max(0, end - Date.parse(shard.started_at));
}

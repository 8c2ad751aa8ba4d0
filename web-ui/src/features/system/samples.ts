// Samples of the status. They are taken while this tab shows the system page, because the server keeps no
// history of the status. (The metrics have a history.)
import type { SystemStatus } from '../../api/types';

export interface Sample {
  at: number; // ms since the epoch
  late: number | null; // ms, 99th percentile
  overdue: number | null; // ms
  pending: number | null;
  running: number | null;
  lag: number | null; // records in all queues; null if the number of one queue is unknown
}
export const MEASURES = ['late', 'overdue', 'pending', 'running', 'lag'] as const;
export type Measure = (typeof MEASURES)[number];

export const KEPT_MS = 60 * 60_000;
const KEPT_MOST = 2000; // samples; users may refresh by hand very often
// Longer than the slowest refresh interval. If two samples are further apart, the page was not
// open meanwhile.
const UNSEEN_MS = 90_000;

export function sampleOf(status: SystemStatus, at: number): Sample {
  const { tasks, results, logs } = status.lag;
  return {
    at,
    late: status.late_ms.p99,
    overdue: status.oldest_overdue_ms,
    pending: status.runs_pending,
    running: status.runs_running,
    lag: tasks === null || results === null || logs === null ? null : tasks + results + logs,
  };
}

// Adds a sample to the samples, which are sorted oldest first. A sample that is not newer than the last one
// is ignored.
export function withSample(kept: readonly Sample[], next: Sample): readonly Sample[] {
  if (kept.length > 0 && kept.at(-1)!.at >= next.at) return kept;
  return [...kept, next].filter((one) => one.at > next.at - KEPT_MS).slice(-KEPT_MOST);
}

export interface Point {
  at: number;
  value: number;
}

// Returns the points of each line. A line ends where a value is unknown. A line also ends if the next sample
// is more than UNSEEN_MS later.
export function stretches(samples: readonly Sample[], measure: Measure): Point[][] {
  const all: Point[][] = [];
  let before: Sample | undefined;
  for (const one of samples) {
    const value = one[measure];
    const joined = before !== undefined && before[measure] !== null && one.at - before.at <= UNSEEN_MS;
    if (value !== null) {
      if (joined) all.at(-1)!.push({ at: one.at, value });
      else all.push([{ at: one.at, value }]);
    }
    before = one;
  }
  return all;
}

// Returns the maximum of each minute for the table, newest first.
export function byMinute(samples: readonly Sample[]): Sample[] {
  const minutes = new Map<number, Sample>();
  for (const one of samples) {
    const at = Math.floor(one.at / 60_000) * 60_000;
    const most = minutes.get(at) ?? {
      at,
      late: null,
      overdue: null,
      pending: null,
      running: null,
      lag: null,
    };
    for (const measure of MEASURES) {
      const value = one[measure];
      if (value !== null) most[measure] = Math.max(value, most[measure] ?? value);
    }
    minutes.set(at, most);
  }
  return [...minutes.values()].toReversed();
}

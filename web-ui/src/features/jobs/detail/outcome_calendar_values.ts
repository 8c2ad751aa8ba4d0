// Counts the results of a job's runs by day. The days are those of a time zone. Pure.
import { BAD_STATES, type RecentRun, type Run } from '../../../api/types';
import { difference } from '../../../lib/format';
import { addDays, localIn } from '../../../lib/zones';

export const WEEKS = 12;
export const ENDED: readonly string[] = ['COMPLETED', ...BAD_STATES];

// Returns the share of successes among the runs that ended by themselves. The share is rounded down, so that
// with a single failure it is never 100 %.
export function successOfLast(runs: readonly Pick<RecentRun, 'state'>[]): {
  share: number | null;
  n: number;
} {
  const ended = runs.filter((run) => ENDED.includes(run.state));
  const good = ended.filter((run) => run.state === 'COMPLETED').length;
  return { share: ended.length > 0 ? Math.floor((good * 100) / ended.length) / 100 : null, n: ended.length };
}

export const IN_TIME_MS = 1000;

// Returns the share of runs that started within `ms` after they were due, and the longest delay. The share is
// rounded down. Only first attempts of scheduled runs count.
export function punctualityOf(
  runs: readonly Pick<Run, 'kind' | 'attempt' | 'fire_time' | 'due_at' | 'started_at'>[],
  ms: number,
): { share: number | null; n: number; latest: number } {
  const late = runs
    .filter((run) => run.kind !== 'manual' && run.attempt === 1 && run.started_at !== null)
    .map((run) => Math.max(0, difference(run.due_at ?? run.fire_time, run.started_at) ?? 0));
  const good = late.filter((one) => one <= ms).length;
  return {
    share: late.length > 0 ? Math.floor((good * 100) / late.length) / 100 : null,
    n: late.length,
    latest: late.reduce((a, b) => Math.max(a, b), 0),
  };
}

// Returns the days of the last weeks. The oldest week is first, and a week begins on Monday. Days in the
// future are null.
export function weeksTo(now: number, zone: string): (string | null)[][] {
  const today = localIn(zone, now).slice(0, 10);
  const weekday = (new Date(today + 'T00:00Z').getUTCDay() + 6) % 7;
  const first = addDays(today, -weekday - 7 * (WEEKS - 1));
  return Array.from({ length: WEEKS }, (_, week) =>
    Array.from({ length: 7 }, (_day, i) => {
      const day = addDays(first, week * 7 + i);
      return day <= today ? day : null;
    }),
  );
}

export interface DayOutcomes {
  good: number;
  bad: number;
}

export function outcomesByDay(
  runs: readonly Pick<Run, 'state' | 'ended_at'>[],
  zone: string,
): Map<string, DayOutcomes> {
  const days = new Map<string, DayOutcomes>();
  for (const run of runs) {
    if (run.ended_at === null) continue;
    const day = localIn(zone, Date.parse(run.ended_at)).slice(0, 10);
    const before = days.get(day) ?? { good: 0, bad: 0 };
    days.set(
      day,
      run.state === 'COMPLETED' ? { ...before, good: before.good + 1 } : { ...before, bad: before.bad + 1 },
    );
  }
  return days;
}

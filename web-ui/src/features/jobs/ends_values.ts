// How the runs of a job ended, by day on a zone's clock. Pure.
import type { RecentRun, Run } from '../../api/types';
import { addDays, localIn } from '../../shared/zones';
import { BAD_STATES } from '../overview/failures';

export const WEEKS = 12;
export const ENDED: readonly string[] = ['COMPLETED', ...BAD_STATES];

// Of those that ended by themselves, the share that succeeded, rounded down: a single failure is never 100 %.
export function successOfLast(runs: readonly Pick<RecentRun, 'state'>[]): { share: number | null; n: number } {
  const ended = runs.filter((run) => ENDED.includes(run.state));
  const good = ended.filter((run) => run.state === 'COMPLETED').length;
  return { share: ended.length > 0 ? Math.floor((good * 100) / ended.length) / 100 : null, n: ended.length };
}

// The days of the last weeks from Monday to Sunday, the oldest week first; null: still to come.
export function weeksTo(now: number, zone: string): (string | null)[][] {
  const today = localIn(zone, now).slice(0, 10);
  const weekday = (new Date(today + 'T00:00Z').getUTCDay() + 6) % 7;
  const first = addDays(today, -weekday - 7 * (WEEKS - 1));
  return Array.from({ length: WEEKS }, (_, week) => Array.from({ length: 7 }, (_day, i) => {
    const day = addDays(first, week * 7 + i);
    return day <= today ? day : null;
  }));
}

export interface DayOfEnds { good: number; bad: number }

export function endsByDay(runs: readonly Pick<Run, 'state' | 'ended_at'>[], zone: string): Map<string, DayOfEnds> {
  const days = new Map<string, DayOfEnds>();
  for (const run of runs) {
    if (run.ended_at === null) continue;
    const day = localIn(zone, Date.parse(run.ended_at)).slice(0, 10);
    const before = days.get(day) ?? { good: 0, bad: 0 };
    days.set(day, run.state === 'COMPLETED' ? { ...before, good: before.good + 1 } : { ...before, bad: before.bad + 1 });
  }
  return days;
}

// A run in words: how long things took in its life, and which one it is. Pure.
import type { Run } from '../../api/types';
import { difference } from '../../shared/format';

export interface Step {
  key: 'fire' | 'planned' | 'claimed' | 'started' | 'ended';
  at: string | null;
  // Since the step before that is known, in ms; negative for what was planned ahead.
  after: number | null;
}

// Fire time first: planning ahead of it is a negative delay, and shown as such.
export function timeline(run: Run): Step[] {
  const times = [
    ['planned', run.planned_at],
    ['fire', run.fire_time],
    ['claimed', run.claimed_at],
    ['started', run.started_at],
    ['ended', run.ended_at],
  ] as const;
  const steps: Step[] = [];
  let before: string | null = null;
  for (const [key, at] of times) {
    steps.push({ key, at: at ?? null, after: difference(before, at) });
    if (at) before = at;
  }
  return steps;
}

export function duration(
  run: { started_at: string | null; claimed_at?: string | null; ended_at: string | null },
  now: number,
): number | null {
  const from = run.started_at ?? run.claimed_at ?? null;
  if (!from) return null;
  return (run.ended_at ? Date.parse(run.ended_at) : now) - Date.parse(from);
}

// Which run it is, where rows are not beside it.
export const nameOfRun = (run: Run) =>
  `${run.job_name || run.job_id} · ${run.fire_time.slice(0, 19).replace('T', ' ')} UTC`;

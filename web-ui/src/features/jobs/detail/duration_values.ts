// Statistics of the durations of runs. Pure.
import type { Run } from '../../../api/types';

export interface RunDuration {
  run_id: string;
  fire_time: string;
  ms: number;
  good: boolean;
}

// Returns the durations, oldest first. Runs that never started are left out.
export function durationsOf(runs: readonly Run[]): RunDuration[] {
  return runs
    .filter((run) => run.started_at !== null && run.ended_at !== null)
    .map((run) => ({
      run_id: run.run_id,
      fire_time: run.fire_time,
      good: run.state === 'COMPLETED',
      ms: Math.max(0, Date.parse(run.ended_at!) - Date.parse(run.started_at!)),
    }))
    .toReversed();
}

// Returns the smallest value that at least `share` % of the values do not exceed. 0 if the list is empty.
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((sorted.length * share) / 100) - 1)] ?? 0;
}

// The job that the first steps make is known by a label of its own.
import type { Job } from '../../api/types';

export const SAMPLE_LABEL = 'carillon-sample';

// undefined: there are jobs of one's own. null: there are none at all.
export function sampleOf(jobs: readonly Job[]): Job | null | undefined {
  if (jobs.length === 0) return null;
  return jobs.length === 1 && SAMPLE_LABEL in jobs[0]!.labels ? jobs[0] : undefined;
}

// Recognises the job of the first steps by its label.
import type { Job } from '../../api/types';

export const SAMPLE_LABEL = 'carillon-sample';

// Returns the sample job if it is the only job. null if there are no jobs. undefined if there are other jobs.
export function sampleOf(jobs: readonly Job[]): Job | null | undefined {
  if (jobs.length === 0) return null;
  return jobs.length === 1 && SAMPLE_LABEL in jobs[0]!.labels ? jobs[0] : undefined;
}

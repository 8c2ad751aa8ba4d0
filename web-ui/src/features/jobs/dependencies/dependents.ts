// The jobs that keep another job from being deleted, because they start after it. Pure.
import { ApiError } from '../../../api/client';

// Returns the names of these jobs; null if the error is another one.
export function dependentsIn(error: unknown): string[] | null {
  if (!(error instanceof ApiError) || error.code !== 'has_dependents') return null;
  const { details } = (error.problem ?? {}) as { details?: { jobs?: unknown } };
  return Array.isArray(details?.jobs) ? details.jobs.map(String) : [];
}

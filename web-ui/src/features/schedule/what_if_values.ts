// Computes the fires that a pause of the whole cluster would skip. Pure.
import type { FireLoad } from '../../api/types';
import { instantIn, localIn } from '../../lib/zones';

export const HOURS_MAX = 168; // a week
export const JOBS_SHOWN = 20;
const HOUR_MS = 3_600_000;

// The range that the fields contain, read in the time zone; ms since the epoch.
export interface Window {
  from: number;
  until: number;
}

// Returns the range. If the range is invalid, returns the reason.
export function windowOf(
  from: string,
  until: string,
  zone: string,
): Window | 'no_time' | 'backwards' | 'too_long' {
  const window = { from: instantIn(zone, from), until: instantIn(zone, until) };
  if (from === '' || until === '' || Number.isNaN(window.from) || Number.isNaN(window.until))
    return 'no_time';
  if (window.until <= window.from) return 'backwards';
  return window.until - window.from > HOURS_MAX * HOUR_MS ? 'too_long' : window;
}

export interface Missed {
  fires: number;
  // Only hours with fires. The first hour begins where the range begins, which may be later than the
  // full hour.
  hours: { start: string; label: string; fires: number }[];
  jobs: { job_id: string; name: string; fires: number }[]; // in the order of the first fire of each job
  more: number; // number of jobs that are not in `jobs`
}

export function missedIn(load: FireLoad, zone: string): Missed {
  const jobs = (load.items ?? [])
    .slice(0, JOBS_SHOWN)
    .map(({ job_id, name, fires }) => ({ job_id, name, fires }));
  return {
    fires: load.buckets.reduce((sum, one) => sum + one.fires, 0),
    hours: load.buckets
      .filter((one) => one.fires > 0)
      .map(({ start, fires }) => ({
        start,
        fires,
        label: localIn(zone, Date.parse(start)).replace('T', ' '),
      })),
    jobs,
    more: load.jobs - jobs.length,
  };
}

// Decides when to request the next fires again. Pure.
import type { FireLoad } from '../../api/types';

const SOONEST_MS = 5000;
const LATEST_MS = 30_000;
const AFTER_MS = 500;

// Returns the time until the next request: shortly after the first fire. The time is at least SOONEST_MS. It
// is at most LATEST_MS, so that new jobs appear soon.
export function againIn(load: FireLoad | undefined, now: number): number {
  const first = load?.items?.[0]?.first_fire_time;
  if (first === undefined) return LATEST_MS;
  return Math.min(LATEST_MS, Math.max(SOONEST_MS, Date.parse(first) - now + AFTER_MS));
}

// Converts counts of fires to the values that the calendar draws. Pure.
import type { FireBucket } from '../../api/types';
import { addDays, instantIn, localIn } from '../../lib/zones';

export const HEAT_LEVELS = 4;

// Returns the level of a number of fires: 0 for no fires, otherwise a level in equal steps up to `most`. The
// level of a single fire is at least 1.
export function heat(fires: number, most: number): number {
  return fires <= 0 ? 0 : Math.max(1, Math.ceil((fires * HEAT_LEVELS) / most));
}

export interface Span {
  from: string;
  until: string;
  days: string[];
}

// Returns the days in a time zone: the given day, or the week, from Monday, that contains it. A day may have
// 23 or 25 hours.
export function spanOf(view: 'day' | 'week', date: string, zone: string): Span {
  const weekday = (new Date(date + 'T00:00Z').getUTCDay() + 6) % 7;
  const first = view === 'day' ? date : addDays(date, -weekday);
  const days = Array.from({ length: view === 'day' ? 1 : 7 }, (_, i) => addDays(first, i));
  const at = (day: string) => new Date(instantIn(zone, day)).toISOString();
  return { from: at(first), until: at(addDays(days.at(-1)!, 1)), days };
}

export interface Hour extends FireBucket {
  label: string;
}

// Returns the hours by day. Hours and days are those of the zone's clock.
export function byDay(buckets: readonly FireBucket[], zone: string): Map<string, Hour[]> {
  const days = new Map<string, Hour[]>();
  for (const bucket of buckets) {
    const local = localIn(zone, Date.parse(bucket.start));
    const hours = days.get(local.slice(0, 10)) ?? [];
    hours.push({ ...bucket, label: local.slice(11, 16) });
    days.set(local.slice(0, 10), hours);
  }
  return days;
}

// Returns the bars as one SVG path. Its box is one unit wide per bucket and `height` high.
export function bars(buckets: readonly FireBucket[], height: number): string {
  const most = Math.max(1, ...buckets.map((one) => one.fires));
  return buckets
    .map((one, x) =>
      one.fires > 0 ? `M${x} ${height}h1v${-Math.max(2, Math.round((one.fires * height) / most))}h-1z` : '',
    )
    .join('');
}

export const isDate = (text: string | undefined): text is string =>
  text !== undefined &&
  /^\d{4}-\d\d-\d\d$/.test(text) &&
  new Date(text + 'T00:00Z').toISOString().startsWith(text);

// Counts failures by day and hour in a time zone. Pure.
import { addDays, localIn } from '../../lib/zones';

const DAYS = 7;
const HOUR_MS = 3_600_000;

// Returns today and the six days before today, oldest first.
export function lastDays(now: number, zone: string): string[] {
  const today = localIn(zone, now).slice(0, 10);
  return Array.from({ length: DAYS }, (_, i) => addDays(today, i - DAYS + 1));
}

export interface HourOfFailures {
  count: number;
  from: number;
  until: number;
}

// Counts failures by hour. The key is "2026-03-01 14". If a clock change repeats an hour, the failures of
// both hours are counted together.
export function perHour(times: readonly string[], zone: string): Map<string, HourOfFailures> {
  const hours = new Map<string, HourOfFailures>();
  for (const time of times) {
    const at = Date.parse(time);
    const local = localIn(zone, at);
    const key = `${local.slice(0, 10)} ${+local.slice(11, 13)}`;
    const from = Math.floor(at / 60_000) * 60_000 - +local.slice(14, 16) * 60_000;
    const one = hours.get(key) ?? { count: 0, from, until: from + HOUR_MS };
    hours.set(key, {
      count: one.count + 1,
      from: Math.min(one.from, from),
      until: Math.max(one.until, from + HOUR_MS),
    });
  }
  return hours;
}

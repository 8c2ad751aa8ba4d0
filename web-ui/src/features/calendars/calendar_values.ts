// Converts between the definition of a calendar and the values of its form, and reads the days of a preview.
// Pure.
import type { CalendarDefinition } from '../../api/types';
import { addDays, isZone, localIn } from '../../lib/zones';

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

export interface CalendarValues {
  time_zone: string;
  weekdays: Weekday[];
  dates: string; // one a line
  except: string; // one a line
  intervals: string; // one a line
}
export const EMPTY: CalendarValues = { time_zone: 'UTC', weekdays: [], dates: '', except: '', intervals: '' };

const LISTS = ['dates', 'except', 'intervals'] as const;
type List = (typeof LISTS)[number];

export const calendarPath = (name: string): string => 'calendars/' + encodeURIComponent(name);

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const at = Date.parse(text + 'T00:00Z');
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}
const isInterval = (text: string): boolean => /^\d\d:[0-5]\d-\d\d:[0-5]\d$/.test(text);

export const valuesOf = (definition: CalendarDefinition): CalendarValues => ({
  time_zone: definition.time_zone,
  weekdays: WEEKDAYS.filter((day) => definition.weekdays?.includes(day)),
  dates: (definition.dates ?? []).join('\n'),
  except: (definition.except ?? []).join('\n'),
  intervals: (definition.intervals ?? []).join('\n'),
});

// Leaves out empty lists. Dates are sorted, because people add them at the end.
export function definitionOf(values: CalendarValues): CalendarDefinition {
  const dates = linesOf(values.dates).toSorted();
  const except = linesOf(values.except).toSorted();
  const intervals = linesOf(values.intervals.replace(/[ \t]*-[ \t]*/g, '-'));
  return {
    time_zone: values.time_zone.trim(),
    ...(values.weekdays.length > 0 && {
      weekdays: WEEKDAYS.filter((day) => values.weekdays.includes(day)),
    }),
    ...(dates.length > 0 && { dates }),
    ...(except.length > 0 && { except }),
    ...(intervals.length > 0 && { intervals }),
  };
}

const ENDS_SOON_DAYS = 30;
const KEPT_UP_DAYS = 400; // as the server's warning calendar_ends

// The last listed day, if it has passed or comes within 30 days: later days are not known to the calendar. None of a
// calendar that nobody has kept up for over a year, because its days come once.
export function lastDaySoon(definition: CalendarDefinition, now: number): string | null {
  const last = [...(definition.dates ?? []), ...(definition.except ?? [])].toSorted().at(-1);
  const today = new Date(now).toISOString().slice(0, 10);
  if (last === undefined || last < addDays(today, -KEPT_UP_DAYS)) return null;
  return last <= addDays(today, ENDS_SOON_DAYS) ? last : null;
}

export interface Wrong {
  field: 'time_zone' | List;
  line?: string; // the invalid line of a list
}

// Returns the first invalid line of each field.
export function wrongIn(values: CalendarValues): Wrong[] {
  const found: Wrong[] = isZone(values.time_zone.trim()) ? [] : [{ field: 'time_zone' }];
  const definition = definitionOf(values);
  for (const field of LISTS) {
    const line = definition[field]?.find((one) => !(field === 'intervals' ? isInterval : isDate)(one));
    if (line !== undefined) found.push({ field, line });
  }
  return found;
}

// The field that shows the server's error at `pointer`, which is a pointer into the definition.
export const fieldOf = (pointer: string): string => pointer.split('/')[1] ?? '';

export interface Times {
  from: string;
  to: string;
}

// The local days of `zone` on which the calendar has times.
export function daysOf(items: readonly Times[], zone: string): Set<string> {
  const days = new Set<string>();
  for (const { from, to } of items) {
    const last = localIn(zone, Date.parse(to) - 1000).slice(0, 10);
    for (let day = localIn(zone, Date.parse(from)).slice(0, 10); day <= last; day = addDays(day, 1)) {
      days.add(day);
    }
  }
  return days;
}

export interface Month {
  month: string; // 2026-03
  blanks: number; // days of the week before the first, beginning on Monday
  days: string[]; // 2026-03-01, ...
}

// Twelve months from the month of `day` on.
export function yearFrom(day: string): Month[] {
  const [year, month] = day.split('-').map(Number) as [number, number];
  return Array.from({ length: 12 }, (_, i) => {
    const first = new Date(Date.UTC(year, month - 1 + i, 1));
    const name = first.toISOString().slice(0, 7);
    const length = new Date(Date.UTC(year, month + i, 0)).getUTCDate();
    return {
      month: name,
      blanks: (first.getUTCDay() + 6) % 7,
      days: Array.from({ length }, (_one, n) => `${name}-${String(n + 1).padStart(2, '0')}`),
    };
  });
}

// "2026-03-02 09:00 – 17:00", or with the date of the end if it is another day.
export function timesText({ from, to }: Times, zone: string): string {
  const [begin, end] = [from, to].map((at) => localIn(zone, Date.parse(at)).replace('T', ' ')) as [
    string,
    string,
  ];
  return `${begin} – ${begin.slice(0, 10) === end.slice(0, 10) ? end.slice(11) : end}`;
}

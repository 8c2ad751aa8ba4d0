// Formats times, durations and numbers in the current language. Pure.

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];

// Formats are cached, because creating a format takes longer than all other work for a row.
const relative = new Map<string, Intl.RelativeTimeFormat>();

// Formats the time relative to now: "in 5 min.", "3 hr. ago", "now". It has one unit and is rounded
// towards now.
export function relativeTime(at: number, now: number, language: string): string {
  const distance = at - now;
  let format = relative.get(language);
  if (!format) {
    format = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
    relative.set(language, format);
  }
  for (const [unit, length] of UNITS) {
    if (Math.abs(distance) >= length) return format.format(Math.trunc(distance / length), unit);
  }
  return format.format(0, 'second');
}

// Formats a time with its offset: "2026-03-29 03:00:00 +02:00". Every result has the same width, so that
// columns line up.
export function absoluteTime(at: number, zone: string | undefined): string {
  let parts: Record<string, string>;
  try {
    parts = partsOf(at, zone);
  } catch {
    parts = partsOf(at, 'UTC'); // this browser does not know the zone
  }
  const offset = (parts.timeZoneName ?? '').replace(/^(GMT|UTC)/, '') || '+00:00';
  return (
    `${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}:${parts.second} ` +
    (zone === 'UTC' ? 'UTC' : offset)
  );
}

// Formats a time for a sentence: the time of day if `at` is on the same day as `now`, otherwise also
// the date.
export function clockTime(at: number, now: number, zone: string | undefined): string {
  const [date, time] = absoluteTime(at, zone).split(' ');
  return date === absoluteTime(now, zone).split(' ')[0] ? time! : `${date} ${time}`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function partsOf(at: number, zone: string | undefined): Record<string, string> {
  const key = zone ?? '';
  let format = formats.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'longOffset',
    });
    formats.set(key, format);
  }
  return Object.fromEntries(format.formatToParts(at).map((part) => [part.type, part.value]));
}

const EN_UNITS = { ms: 'ms', s: 's', min: 'min', h: 'h', d: 'd' };
const ZH_UNITS: typeof EN_UNITS = { ms: '毫秒', s: '秒', min: '分', h: '小时', d: '天' };
const unitsOf = (language: string) => (language === 'zh-CN' ? ZH_UNITS : EN_UNITS);

// Formats a duration: "850 ms", "1.2 s", "2 min 5 s", "3 h 20 min", "4 d 2 h".
export function span(ms: number, language: string): string {
  const unit = unitsOf(language);
  const sign = ms < 0 ? '−' : '';
  const value = Math.abs(ms);
  if (value < 1) return `0 ${unit.ms}`;
  if (value < 1000) return `${sign}${Math.round(value)} ${unit.ms}`;
  if (value < 60_000) return `${sign}${(Math.floor(value / 100) / 10).toString()} ${unit.s}`;
  const seconds = Math.floor(value / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (days > 0) return `${sign}${days} ${unit.d}${hours % 24 ? ` ${hours % 24} ${unit.h}` : ''}`;
  if (hours > 0) return `${sign}${hours} ${unit.h}${minutes % 60 ? ` ${minutes % 60} ${unit.min}` : ''}`;
  return `${sign}${minutes} ${unit.min}${seconds % 60 ? ` ${seconds % 60} ${unit.s}` : ''}`;
}

// Formats whole seconds like span. 0 becomes "0 s", so that a countdown does not end with milliseconds.
export const countdown = (seconds: number, language: string): string =>
  seconds === 0 ? `0 ${unitsOf(language).s}` : span(seconds * 1000, language);

// Replaces the times in a sentence of the server by a form that is easier to read: "2026-11-24 20:48:00 UTC".
export const readable = (text: string): string =>
  text.replace(/\b(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z/g, '$1 $2 UTC');

export function difference(from: string | null | undefined, to: string | null | undefined): number | null {
  if (!from || !to) return null;
  return Date.parse(to) - Date.parse(from);
}

// Formats a number in the given language, with cached formats.
function numbers(options: Intl.NumberFormatOptions) {
  const kept = new Map<string, Intl.NumberFormat>();
  return (value: number, language: string) => {
    let format = kept.get(language);
    if (!format) {
      format = new Intl.NumberFormat(language, options);
      kept.set(language, format);
    }
    return format.format(value);
  };
}
export const count = numbers({});
export const percent = numbers({ style: 'percent', maximumFractionDigits: 0 });
// Formats a number in a compact form for cells: 3.6K.
export const brief = numbers({ notation: 'compact', maximumFractionDigits: 1 });

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
const shortNumber = numbers({ maximumFractionDigits: 1 });
// Formats a number of bytes: "25.2 MiB".
export function bytes(value: number, language: string): string {
  const step = value < 1024 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(value) / 10));
  return `${shortNumber(value / 1024 ** step, language)} ${BYTE_UNITS[step]}`;
}

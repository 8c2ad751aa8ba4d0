// Runs of other jobs for which the runs of a job wait (waits_for, wait_limit_s) as rows of the form, and times as
// short texts such as 1h30m. Pure.
import type { UpstreamWait, WaitWindow } from '../../../api/types';
import type { Definition } from '../form/definition';

export const WAITS_MAX = 10;
export const WAIT_ON = ['success', 'done'] as const;
export const WAIT_WHICH = ['last', 'all'] as const;
// day: that of the fire, up to it. before: a whole earlier day. span: a time around the fire.
export const WAIT_WINDOWS = ['day', 'before', 'span'] as const;
const DAYS_MAX = 31;
const DAY_S = 86_400;
const BACK_MAX_S = DAYS_MAX * DAY_S;
const AHEAD_MAX_S = 7 * DAY_S;
const LIMIT_MIN_S = 60;
const LIMIT_MAX_S = 7 * DAY_S;

export interface WaitRow {
  job: string; // ID of the upstream job
  in: string; // ID of a workflow; empty: anywhere
  on: string;
  window: string;
  days: string; // of `before`
  back: string; // of `span`
  ahead: string;
  which: string;
  kept: string; // the original entry, as JSON: an entry that was not changed stays as it is
}
export const EMPTY_WAIT: WaitRow = {
  job: '',
  in: '',
  on: 'success',
  window: 'day',
  days: '1',
  back: '1h',
  ahead: '0s',
  which: 'last',
  kept: '{}',
};
export const WAIT_DEFAULTS = { waits: [] as WaitRow[], wait_limit: '6h' };
export type WaitValues = typeof WAIT_DEFAULTS;

const UNITS = [
  ['d', DAY_S],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const;

// "1h30m"
export function durationText(seconds: number): string {
  let rest = seconds;
  let text = '';
  for (const [unit, length] of UNITS) {
    if (rest >= length) text += Math.floor(rest / length) + unit;
    rest %= length;
  }
  return text || '0s';
}

// The seconds that a text such as 90, 45m or 1h30m means; null if it means none.
export function secondsOf(text: string): number | null {
  const trimmed = text.trim();
  if (/^\d{1,9}$/.test(trimmed)) return Number(trimmed);
  if (!/^(\d{1,9}[dhms])+$/.test(trimmed)) return null;
  const lengths: Record<string, number> = Object.fromEntries(UNITS);
  return [...trimmed.matchAll(/(\d+)([dhms])/g)].reduce(
    (sum, [, n, unit]) => sum + Number(n) * lengths[unit!]!,
    0,
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textIn = (from: Record<string, unknown>, name: string, otherwise: string) =>
  typeof from[name] === 'string' ? from[name] : otherwise;
const secondsIn = (from: Record<string, unknown>, name: string) =>
  durationText(typeof from[name] === 'number' ? from[name] : 0);

function windowRowOf(window: unknown): Partial<WaitRow> {
  if (!isObject(window)) return {};
  const { day } = window;
  if (day === 0) return { window: 'day' };
  if (typeof day === 'number') return { window: 'before', days: String(-day) };
  return { window: 'span', back: secondsIn(window, 'back_s'), ahead: secondsIn(window, 'ahead_s') };
}

export function waitRowOf(wait: unknown): WaitRow {
  const from = isObject(wait) ? wait : {};
  return {
    ...EMPTY_WAIT,
    job: textIn(from, 'job', ''),
    in: textIn(from, 'in', ''),
    on: textIn(from, 'on', EMPTY_WAIT.on),
    which: textIn(from, 'which', EMPTY_WAIT.which),
    ...windowRowOf(from.window),
    kept: JSON.stringify(wait),
  };
}

export function waitValuesOf(definition: Definition): Partial<WaitValues> {
  const { waits_for: waits, wait_limit_s: limit } = definition;
  return {
    waits: Array.isArray(waits) ? waits.map(waitRowOf) : [],
    ...(typeof limit === 'number' && limit > 0 ? { wait_limit: durationText(limit) } : {}),
  };
}

function windowOf(row: WaitRow): WaitWindow {
  if (row.window === 'day') return { day: 0 };
  if (row.window === 'before') return { day: -Number(row.days) };
  return { back_s: secondsOf(row.back) ?? 0, ahead_s: secondsOf(row.ahead) ?? 0 };
}

export function waitOf(row: WaitRow): UpstreamWait {
  const kept = JSON.parse(row.kept) as UpstreamWait;
  const before = waitRowOf(kept);
  const isSame = Object.entries(before).every(([name, value]) => row[name as keyof WaitRow].trim() === value);
  if (isSame && isObject(kept.window)) return kept;
  const within = row.in.trim();
  return {
    job: row.job.trim(),
    ...(within ? { in: within } : {}),
    on: row.on as UpstreamWait['on'],
    window: windowOf(row),
    which: row.which as UpstreamWait['which'],
  };
}

// The fields of the definition.
export function waitsFrom(values: WaitValues): Definition {
  if (values.waits.length === 0) return {};
  return { waits_for: values.waits.map(waitOf), wait_limit_s: secondsOf(values.wait_limit) ?? 0 };
}

function wrongTime(text: string, most: number): string | null {
  const seconds = secondsOf(text);
  if (seconds === null) return 'duration';
  return seconds > most ? `duration_most:${durationText(most)}` : null;
}

// Returns the invalid field of a row and a code for the problem.
export function wrongInWait(row: WaitRow): readonly [keyof WaitRow, string] | null {
  const job = row.job.trim();
  if (job === '') return ['job', 'required'];
  if (row.in.trim() === job) return ['in', 'wait_in'];
  if (row.window === 'before') {
    const right = /^\d+$/.test(row.days.trim()) && +row.days >= 1 && +row.days <= DAYS_MAX;
    return right ? null : ['days', `range:1:${DAYS_MAX}`];
  }
  if (row.window !== 'span') return null;
  const [back, ahead] = [wrongTime(row.back, BACK_MAX_S), wrongTime(row.ahead, AHEAD_MAX_S)];
  if (back) return ['back', back];
  if (ahead) return ['ahead', ahead];
  return secondsOf(row.back) === 0 && secondsOf(row.ahead) === 0 ? ['back', 'wait_span'] : null;
}

// A limit is needed where there is something to wait for.
export function wrongLimit(values: WaitValues): string | null {
  if (values.waits.length === 0) return null;
  const seconds = secondsOf(values.wait_limit);
  return seconds !== null && seconds >= LIMIT_MIN_S && seconds <= LIMIT_MAX_S ? null : 'wait_limit';
}

const FIELDS: Record<string, keyof WaitRow> = {
  job: 'job',
  in: 'in',
  on: 'on',
  which: 'which',
  window: 'window',
  day: 'days',
  back_s: 'back',
  ahead_s: 'ahead',
};
// The place of the field that shows the server's error at /waits_for/`at`/`member`/`part`.
export function waitFieldOf(
  at: string | undefined,
  member?: string,
  part?: string,
): `waits.${number}.${keyof WaitRow}` | null {
  if (!/^\d+$/.test(at ?? '')) return null;
  return `waits.${Number(at)}.${FIELDS[part ?? member ?? ''] ?? 'job'}`;
}

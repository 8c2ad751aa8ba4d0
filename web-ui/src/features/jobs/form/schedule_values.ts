// The schedules of a job as rows of the form, where there are several of them or one that a single field cannot show.
// Pure. What a row does not show of a schedule is kept.
import type { Definition } from './definition';

export interface ScheduleRow {
  kind: string;
  cron_expression: string;
  time_zone: string; // empty: the job's
  every_s: string;
  start_time: string; // empty: whole multiples of the rate
  at: string;
  kept: string; // the schedule that it came from, as JSON
}

export const ROWS_MAX = 32;
export const ROW_KINDS = ['cron', 'rate', 'once'] as const;
export const EMPTY_ROW: ScheduleRow = {
  kind: 'cron',
  cron_expression: '',
  time_zone: '',
  every_s: '300',
  start_time: '',
  at: '',
  kept: '{}',
};

const AT_THE_EPOCH = /^1970-01-01T00:00:00(\.0+)?Z$/; // what the server says of a rate without a start
export const startOf = (schedule: Definition): string =>
  typeof schedule.start_time === 'string' && !AT_THE_EPOCH.test(schedule.start_time)
    ? schedule.start_time
    : '';

export function rowOf(schedule: unknown, zone: string): ScheduleRow {
  const from = (typeof schedule === 'object' && schedule !== null ? schedule : {}) as Definition;
  const text = (name: string) => (typeof from[name] === 'string' ? from[name] : '');
  return {
    kind: text('kind'),
    cron_expression: text('cron_expression'),
    time_zone: from.time_zone === zone ? '' : text('time_zone'),
    every_s: typeof from.every_ms === 'number' ? String(from.every_ms / 1000) : EMPTY_ROW.every_s,
    start_time: startOf(from),
    at: text('at'),
    kept: JSON.stringify(schedule),
  };
}

export function scheduleOf(row: ScheduleRow, zone: string): unknown {
  const kept = JSON.parse(row.kept) as Definition;
  const {
    cron_expression: _cron,
    time_zone: _zone,
    every_ms: _every,
    start_time,
    at: _at,
    ...rest
  } = kept?.kind === row.kind ? kept : ({} as Definition);
  switch (row.kind) {
    case 'cron':
      return {
        ...rest,
        kind: 'cron',
        cron_expression: row.cron_expression.trim(),
        time_zone: row.time_zone.trim() || zone,
      };
    case 'rate': {
      const start = row.start_time.trim() || (startOf({ start_time }) === '' ? start_time : undefined);
      return {
        ...rest,
        kind: 'rate',
        every_ms: Math.round(+row.every_s * 1000),
        ...(start === undefined ? {} : { start_time: start }),
      };
    }
    case 'once':
      return { ...rest, kind: 'once', at: row.at.trim() };
    default:
      return kept; // of a server that knows more
  }
}

// What is wrong with a row: the field and a code.
export function wrongIn(row: ScheduleRow): readonly [keyof ScheduleRow, string] | null {
  if (row.kind === 'cron' && row.cron_expression.trim() === '') return ['cron_expression', 'required'];
  if (row.kind === 'rate' && !(+row.every_s > 0)) return ['every_s', 'positive'];
  return row.kind === 'once' && row.at.trim() === '' ? ['at', 'required'] : null;
}

// Which field of a row shows what is said about a member of a schedule.
export const rowFieldOf = (member: string | undefined): keyof ScheduleRow =>
  member === 'every_ms'
    ? 'every_s'
    : member === 'cron_expression' || member === 'time_zone' || member === 'start_time' || member === 'at'
      ? member
      : 'kind';

// Schedules of a job as rows of the form, used if there are several, or one that the single fields
// cannot show. Parts of a schedule that a row does not show are kept. Pure.
import type { AfterSchedule } from '../../../api/types';
import { triggerOf } from '../events/trigger_values';
import { parametersOf, parametersText, type Definition } from './definition';

export interface ScheduleRow {
  kind: string;
  cron_expression: string;
  time_zone: string; // empty: the job's time zone
  every_s: string;
  start_time: string; // empty: whole multiples of the rate; a cron schedule has no start
  end_time: string; // empty: none
  jitter_s: string; // empty: 0
  calendar: string; // empty: none
  blackout: string; // empty: none
  parameters: string; // a JSON object, or empty
  at: string;
  job: string; // ID of the upstream job
  on: string;
  type: string; // of the events
  source: string; // of the events; empty: any
  filter: string; // of the events; empty: none
  kept: string; // the original schedule, as JSON
}

export const ROWS_MAX = 32;
export const ROW_KINDS = ['cron', 'rate', 'delay', 'once', 'after', 'event'] as const;
export const EMPTY_ROW: ScheduleRow = {
  kind: 'cron',
  cron_expression: '',
  time_zone: '',
  every_s: '300',
  start_time: '',
  end_time: '',
  jitter_s: '',
  calendar: '',
  blackout: '',
  parameters: '',
  at: '',
  job: '',
  on: 'success',
  type: '',
  source: '',
  filter: '',
  kept: '{}',
};

// The start time that the server returns for a rate without one.
const AT_THE_EPOCH = /^1970-01-01T00:00:00(\.0+)?Z$/;
export const startOf = (schedule: Definition): string =>
  typeof schedule.start_time === 'string' && !AT_THE_EPOCH.test(schedule.start_time)
    ? schedule.start_time
    : '';

const isGiven = (value: unknown): boolean => value !== undefined && value !== '';

// True if the schedule has something that only a row shows: a window, a jitter, calendars or parameters.
export const isLimited = (schedule: Definition): boolean =>
  schedule.end_time !== undefined ||
  schedule.jitter_s !== undefined ||
  isGiven(schedule.calendar) ||
  isGiven(schedule.blackout) ||
  parametersText(schedule.parameters) !== '' ||
  (schedule.kind === 'cron' && schedule.start_time !== undefined);

export function rowOf(schedule: unknown, zone: string): ScheduleRow {
  const from = (typeof schedule === 'object' && schedule !== null ? schedule : {}) as Definition;
  const text = (name: string) => (typeof from[name] === 'string' ? from[name] : '');
  return {
    kind: text('kind'),
    cron_expression: text('cron_expression'),
    time_zone: from.time_zone === zone ? '' : text('time_zone'),
    every_s: typeof from.every_ms === 'number' ? String(from.every_ms / 1000) : EMPTY_ROW.every_s,
    start_time: startOf(from),
    end_time: text('end_time'),
    jitter_s: typeof from.jitter_s === 'number' ? String(from.jitter_s) : '',
    calendar: text('calendar'),
    blackout: text('blackout'),
    parameters: parametersText(from.parameters),
    at: text('at'),
    job: text('job'),
    on: text('on') || EMPTY_ROW.on,
    type: text('type'),
    source: text('source'),
    filter: text('filter'),
    kept: JSON.stringify(schedule),
  };
}

// The members of a cron or rate schedule that are set only if they are wanted.
function limitsOf(row: ScheduleRow): Definition {
  const end = row.end_time.trim();
  const jitter = row.jitter_s.trim();
  return {
    ...(end === '' ? {} : { end_time: end }),
    ...(jitter === '' ? {} : { jitter_s: +jitter }),
    ...(row.calendar === '' ? {} : { calendar: row.calendar }),
    ...(row.blackout === '' ? {} : { blackout: row.blackout }),
  };
}

function parametersIn(row: ScheduleRow): Definition {
  const parameters = parametersOf(row.parameters) ?? {};
  return Object.keys(parameters).length > 0 ? { parameters } : {};
}

export function scheduleOf(row: ScheduleRow, zone: string): unknown {
  const kept = JSON.parse(row.kept) as Definition;
  const {
    cron_expression: _cron,
    time_zone: _zone,
    every_ms: _every,
    start_time,
    end_time: _end,
    jitter_s: _jitter,
    calendar: _calendar,
    blackout: _blackout,
    parameters: _parameters,
    at: _at,
    in_s: _in,
    job: _job,
    on: _on,
    type: _type,
    source: _source,
    filter: _filter,
    ...rest
  } = kept?.kind === row.kind ? kept : ({} as Definition);
  switch (row.kind) {
    case 'cron':
      return {
        ...rest,
        kind: 'cron',
        cron_expression: row.cron_expression.trim(),
        time_zone: row.time_zone.trim() || zone,
        ...(row.start_time.trim() === '' ? {} : { start_time: row.start_time.trim() }),
        ...limitsOf(row),
        ...parametersIn(row),
      };
    case 'rate': {
      const start = row.start_time.trim() || (startOf({ start_time }) === '' ? start_time : undefined);
      return {
        ...rest,
        kind: 'rate',
        every_ms: Math.round(+row.every_s * 1000),
        ...(start === undefined ? {} : { start_time: start }),
        ...limitsOf(row),
        ...parametersIn(row),
      };
    }
    case 'delay':
      return {
        ...rest,
        kind: 'delay',
        every_ms: Math.round(+row.every_s * 1000),
        ...(row.start_time.trim() === '' ? {} : { start_time: row.start_time.trim() }),
        ...parametersIn(row),
      };
    case 'once':
      return { ...rest, kind: 'once', at: row.at.trim(), ...parametersIn(row) };
    case 'after':
      return { ...rest, kind: 'after', job: row.job.trim(), on: row.on, ...parametersIn(row) };
    case 'event':
      return { ...rest, ...triggerOf(row) };
    default:
      return kept; // a kind that only a newer server knows
  }
}

export const isAfter = (schedule: unknown): schedule is AfterSchedule =>
  (schedule as Definition | null)?.kind === 'after';

export const JITTER_MAX_S = 3600;
// True for kinds that may have a jitter, an end and calendars.
export const hasJitter = (kind: string): boolean => kind === 'cron' || kind === 'rate';
const wrongJitter = (text: string) => text !== '' && !(/^\d+$/.test(text) && +text <= JITTER_MAX_S);

// Returns the invalid field of a row and a code for the problem.
export function wrongIn(row: ScheduleRow): readonly [keyof ScheduleRow, string] | null {
  if (row.kind === 'cron' && row.cron_expression.trim() === '') return ['cron_expression', 'required'];
  if ((row.kind === 'rate' || row.kind === 'delay') && !(+row.every_s > 0)) return ['every_s', 'positive'];
  if (row.kind === 'once' && row.at.trim() === '') return ['at', 'required'];
  if (row.kind === 'after' && row.job.trim() === '') return ['job', 'required'];
  if (row.kind === 'event' && row.type.trim() === '') return ['type', 'required'];
  if (hasJitter(row.kind) && wrongJitter(row.jitter_s.trim())) return ['jitter_s', 'jitter'];
  return parametersOf(row.parameters) === null ? ['parameters', 'json'] : null;
}

const OWN_FIELDS = [
  'cron_expression',
  'time_zone',
  'start_time',
  'end_time',
  'jitter_s',
  'calendar',
  'blackout',
  'parameters',
  'at',
  'job',
  'on',
  'type',
  'source',
  'filter',
] as const;
// Returns the field of a row that shows an error about a member of its schedule.
export const rowFieldOf = (member: string | undefined): keyof ScheduleRow =>
  member === 'every_ms'
    ? 'every_s'
    : member !== undefined && (OWN_FIELDS as readonly string[]).includes(member)
      ? (member as (typeof OWN_FIELDS)[number])
      : 'kind';

import { describe, expect, it } from 'vitest';
import { definitionFrom, differences, fieldOf, normalised, schedulesOf, valuesOf } from './form_values';
import { DEFAULTS, formSchema, intervalsOf, linesOf, type FormValues } from './form_schema';
import { parametersOf } from './definition';
import { EMPTY_ROW } from './schedule_values';

const issuesOf = (change: object) => {
  const result = formSchema.safeParse({
    ...DEFAULTS,
    name: 'a',
    command: 'true',
    cron_expression: '* * * * *',
    ...change,
  });
  return result.success ? [] : result.error.issues.map((one) => [one.path[0], one.message]);
};

describe('a definition', () => {
  it('the form returns a definition unchanged, including fields that it does not show', () => {
    const job = normalised({
      job_id: 'a',
      name: 'A',
      type: 'shell',
      command: 'echo a',
      cron_expression: '0 3 * * *',
      time_zone: 'Europe/Paris',
      catch_up_max: 7,
      misfire_grace: 5,
      catch_up_window: 60,
      user_id: 'user-2',
      retry_intervals: [1, 2],
      labels: { team: 'x', note: 'a=b' },
      parameters: { n: 1 },
      env: {},
      enabled: true,
      priority: 5,
      timeout: 60,
      queue_timeout: 0,
      kill_grace: 10,
      retry_count: 0,
      retry_interval: 60,
      description: '',
      misfire_policy: 'all',
      overlap_policy: 'skip',
      dst_gap: 'skip',
      dst_repeat: 'both',
      executor_selector: '',
      executor_id: '',
      routing: 'random',
      retry_backoff: 'fixed',
      on_lost: 'hold',
    });
    expect(definitionFrom(valuesOf(job), job)).toEqual({ ...job, namespace: 'default' });
  });

  it('a presumed death is sent only of a handler that is retried', () => {
    const base = { type: 'handler', handler: 'a/b', on_lost: 'retry', presume_dead_s: 600 };
    const values = valuesOf(base);
    expect(values.presume_dead_s).toBe('600');
    expect(definitionFrom(values, base).presume_dead_s).toBe(600);
    for (const change of [{ on_lost: 'hold' }, { type: 'shell' }, { presume_dead_s: '0' }])
      expect(definitionFrom({ ...values, ...change }, base)).not.toHaveProperty('presume_dead_s');
    expect(definitionFrom(DEFAULTS, {})).not.toHaveProperty('presume_dead_s');
    const handler = { type: 'handler', handler: 'a/b', command: '' };
    expect(issuesOf({ ...handler, presume_dead_s: '86401' })).toEqual([['presume_dead_s', 'range:0:86400']]);
    expect(issuesOf({ presume_dead_s: 'x' })).toEqual([]);
    expect(fieldOf('/presume_dead_s')).toBe('presume_dead_s');
  });

  it('a normalised definition agrees in both forms of its schedule', () => {
    expect(normalised({ cron_expression: '0 3 * * *', time_zone: 'Asia/Tokyo' }).schedules).toEqual([
      { kind: 'cron', cron_expression: '0 3 * * *', time_zone: 'Asia/Tokyo' },
    ]);
    expect(normalised({ schedules: [{ kind: 'rate', every_ms: 5000 }] }).cron_expression).toBeNull();
    expect(
      normalised({
        time_zone: 'UTC',
        schedules: [{ kind: 'cron', cron_expression: '0 3 * * *', time_zone: 'Asia/Tokyo' }],
      }).cron_expression,
    ).toBeNull();
  });

  it('the form keeps several schedules, own zones and unknown members unchanged', () => {
    for (const schedules of [
      [
        { kind: 'once', at: '2030-01-01T00:00:00Z' },
        { kind: 'rate', every_ms: 5000 },
      ],
      [{ kind: 'rate', every_ms: 5000, start_time: '2026-03-01T00:00:00Z' }],
      [{ kind: 'cron', cron_expression: '0 3 * * *', time_zone: 'Asia/Tokyo' }],
      [{ kind: 'cron', cron_expression: '0 3 * * *', time_zone: 'UTC', start_time: '2026-03-01T00:00:00Z' }],
      [{ kind: 'cron', cron_expression: '0 3 * * *', time_zone: 'UTC', end_time: '2026-03-01T00:00:00Z' }],
      [{ kind: 'cron', cron_expression: '0 3 * * *', time_zone: 'UTC', jitter_s: 60 }],
      [{ kind: 'rate', every_ms: 5000, end_time: '2026-03-01T00:00:00Z', jitter_s: 60 }],
      [
        { kind: 'cron', cron_expression: '0 3 * * *', time_zone: 'UTC', jitter_s: 5 },
        { kind: 'rate', every_ms: 1500, start_time: '1970-01-01T00:00:00.000000Z' },
      ],
      [{ kind: 'cron', cron_expression: '0 3 * * *', time_zone: 'UTC', calendar: 'office' }],
      [{ kind: 'rate', every_ms: 5000, blackout: 'closing', parameters: { n: 1, mode: 'full' } }],
      [{ kind: 'once', at: '2030-01-01T00:00:00Z', parameters: { n: 1 } }],
      [{ kind: 'delay', every_ms: 10_000, start_time: '2026-03-01T00:00:00Z' }],
      [
        { kind: 'delay', every_ms: 10_000, parameters: { n: 1 } },
        { kind: 'cron', cron_expression: '0 3 * * *', time_zone: 'UTC', calendar: 'a', blackout: 'b' },
      ],
      [{ kind: 'after', job: 'load', on: 'done', parameters: { n: 1 } }],
      [
        { kind: 'after', job: 'load', on: 'success' },
        { kind: 'after', job: 'stock', on: 'failure' },
      ],
      [
        { kind: 'sunrise', place: 'here', at: 'x' },
        { kind: 'once', at: '2030-01-01T00:00:00Z', note: 'y' },
      ],
    ]) {
      const values = valuesOf({ name: 'a', schedules });
      expect(values.kind).toBe('several');
      expect(definitionFrom(values, { schedules }).schedules).toEqual(schedules);
    }
  });
});

describe('the limit of active runs', () => {
  const from = (values: object, base: Record<string, unknown> = { max_running: 1, queue_max: 100 }) => {
    const { overlap_policy, max_running, queue_max } = definitionFrom({ ...DEFAULTS, ...values }, base);
    return { overlap_policy, max_running, queue_max };
  };

  it('the form returns the limits of active runs unchanged', () => {
    const job = normalised({ name: 'a', overlap_policy: 'queue_all', max_running: 3, queue_max: 7 });
    expect(valuesOf(job)).toMatchObject({ overlap_policy: 'queue_all', max_running: '3', queue_max: '7' });
    expect(definitionFrom(valuesOf(job), job)).toMatchObject(job);
  });

  it('the form sends max_running 1 for a policy that does not show the field', () => {
    const shown = { max_running: '3', queue_max: 'x' };
    expect(from({ ...shown, overlap_policy: 'queue_one' })).toMatchObject({ max_running: 3, queue_max: 100 });
    for (const overlap_policy of ['allow', 'cancel_previous', 'terminate_previous']) {
      expect(from({ ...shown, overlap_policy })).toEqual({ overlap_policy, max_running: 1, queue_max: 100 });
      expect(issuesOf({ ...shown, overlap_policy, max_running: 'x' })).toEqual([]);
    }
  });

  it('the form validates the limits only where they are shown', () => {
    const wrong = { max_running: '1001', queue_max: '0' };
    expect(issuesOf({ ...wrong, overlap_policy: 'skip' })).toEqual([['max_running', 'range:1:1000']]);
    expect(issuesOf({ ...wrong, overlap_policy: 'queue_all' })).toEqual([
      ['max_running', 'range:1:1000'],
      ['queue_max', 'range:1:10000'],
    ]);
    expect(fieldOf('/max_running')).toBe('max_running');
    expect(fieldOf('/queue_max')).toBe('queue_max');
  });

  it('the form does not send limits to a server that does not know them', () => {
    expect(from({ overlap_policy: 'skip' }, {})).toEqual({ overlap_policy: 'skip' });
  });
});

describe('the concurrency group', () => {
  it('the form returns a group unchanged and does not send it to a server that does not know it', () => {
    const job = normalised({ name: 'a', concurrency_group: 'db' });
    expect(valuesOf(job).concurrency_group).toBe('db');
    expect(definitionFrom(valuesOf(job), job).concurrency_group).toBe('db');
    expect(definitionFrom({ ...valuesOf(job), concurrency_group: '' }, job).concurrency_group).toBe('');
    expect(definitionFrom({ ...DEFAULTS, concurrency_group: 'db' }, {}).concurrency_group).toBe('db');
    expect(definitionFrom(DEFAULTS, {})).not.toHaveProperty('concurrency_group');
    expect(fieldOf('/concurrency_group')).toBe('concurrency_group');
  });
});

describe('the schedules of a job', () => {
  const several = (...rows: object[]): FormValues => ({
    ...DEFAULTS,
    kind: 'several',
    schedules: rows.map((row) => ({ ...EMPTY_ROW, ...row })),
  });

  it('a rate as the server returns it fits into one field', () => {
    expect(
      valuesOf({
        name: 'a',
        schedules: [{ kind: 'rate', every_ms: 1500, start_time: '1970-01-01T00:00:00.000000Z' }],
      }),
    ).toMatchObject({ kind: 'rate', every_s: '1.5' });
  });

  it('a fixed delay fits into one field', () => {
    const schedules = [{ kind: 'delay', every_ms: 10_000 }];
    const values = valuesOf({ name: 'a', schedules });
    expect(values).toMatchObject({ kind: 'delay', every_s: '10' });
    expect(schedulesOf(values)).toEqual(schedules);
    expect(issuesOf({ kind: 'delay', every_s: '0' })).toEqual([['every_s', 'positive']]);
  });

  it('a schedule after another job fits into two fields', () => {
    const schedules = [{ kind: 'after', job: 'load', on: 'failure' }];
    const values = valuesOf({ name: 'a', schedules });
    expect(values).toMatchObject({ kind: 'after', upstream: 'load', on: 'failure' });
    expect(schedulesOf(values)).toEqual(schedules);
    expect(valuesOf({ name: 'a', schedules: [{ kind: 'after', job: 'load' }] }).on).toBe('success');
    expect(issuesOf({ kind: 'after', upstream: ' ' })).toEqual([['upstream', 'required']]);
    expect(fieldOf('/schedules/0/job')).toBe('upstream');
    expect(fieldOf('/schedules/0/on')).toBe('on');
  });

  it('schedule rows use the job’s zone when they name none', () => {
    const values = {
      ...several(
        { cron_expression: ' 0 3 * * * ' },
        { kind: 'rate', every_s: '0.5', start_time: '2026-03-01T00:00:00Z' },
        { kind: 'once', at: '2030-01-01T00:00:00Z' },
      ),
      time_zone: 'Asia/Tokyo',
    };
    expect(schedulesOf(values)).toEqual([
      { kind: 'cron', cron_expression: '0 3 * * *', time_zone: 'Asia/Tokyo' },
      { kind: 'rate', every_ms: 500, start_time: '2026-03-01T00:00:00Z' },
      { kind: 'once', at: '2030-01-01T00:00:00Z' },
    ]);
  });

  it('a schedule row drops members of its former kind', () => {
    const [row] = valuesOf({
      schedules: [
        { kind: 'cron', cron_expression: '0 3 * * *', note: 5 },
        { kind: 'once', at: 'x' },
      ],
    }).schedules;
    expect(schedulesOf(several({ ...row, kind: 'rate', every_s: '60' }))).toEqual([
      { kind: 'rate', every_ms: 60000 },
    ]);
  });

  it('a schedule with a window or jitter has no short form', () => {
    const cron = { kind: 'cron', cron_expression: '0 3 * * *', time_zone: 'UTC' };
    expect(normalised({ schedules: [cron] }).cron_expression).toBe('0 3 * * *');
    expect(
      normalised({ schedules: [{ ...cron, calendar: '', blackout: '', parameters: {} }] }).cron_expression,
    ).toBe('0 3 * * *');
    for (const limit of [
      { start_time: 'x' },
      { end_time: 'x' },
      { jitter_s: 5 },
      { calendar: 'a' },
      { blackout: 'a' },
      { parameters: { n: 1 } },
    ])
      expect(normalised({ schedules: [{ ...cron, ...limit }] }).cron_expression).toBeNull();
  });

  it('a schedule row drops limits that were cleared', () => {
    const [row] = valuesOf({
      schedules: [
        { kind: 'cron', cron_expression: '0 3 * * *', start_time: 'a', end_time: 'b', jitter_s: 5 },
      ],
    }).schedules;
    expect(schedulesOf(several({ ...row, start_time: '', end_time: ' ', jitter_s: '' }))).toEqual([
      { kind: 'cron', cron_expression: '0 3 * * *', time_zone: 'UTC' },
    ]);
  });

  it('a relative time needs a row, and is dropped when the row has a time', () => {
    const values = valuesOf({ schedules: [{ kind: 'once', in_s: 3600 }] });
    expect(values.kind).toBe('several');
    const [row] = values.schedules;
    expect(schedulesOf(several({ ...row, at: '2030-01-01T00:00:00Z' }))).toEqual([
      { kind: 'once', at: '2030-01-01T00:00:00Z' },
    ]);
  });

  it('a schedule row has calendars and an end only when its kind supports them', () => {
    const row = {
      start_time: 'a',
      end_time: 'b',
      jitter_s: '5',
      calendar: 'c',
      blackout: 'd',
      parameters: '{"n":1}',
    };
    const parameters = { n: 1 };
    expect(
      schedulesOf(several({ ...row, kind: 'delay', every_s: '10' }, { ...row, kind: 'once', at: 'x' })),
    ).toEqual([
      { kind: 'delay', every_ms: 10_000, start_time: 'a', parameters },
      { kind: 'once', at: 'x', parameters },
    ]);
  });

  it('schedule rows are validated one by one, and only while there are several', () => {
    const rows = several(
      { cron_expression: '' },
      { kind: 'rate', every_s: '0' },
      { kind: 'once' },
      { cron_expression: '0 3 * * *', jitter_s: '3601' },
      { kind: 'rate', jitter_s: '1.5' },
      { kind: 'delay', every_s: '' },
      { kind: 'once', at: 'x', parameters: '[1]' },
      { kind: 'after', job: '' },
    ).schedules;
    const result = formSchema.safeParse({
      ...DEFAULTS,
      name: 'a',
      command: 'true',
      kind: 'several',
      schedules: rows,
    });
    expect(result.error!.issues.map((one) => [one.path.join('.'), one.message])).toEqual([
      ['schedules.0.cron_expression', 'required'],
      ['schedules.1.every_s', 'positive'],
      ['schedules.2.at', 'required'],
      ['schedules.3.jitter_s', 'jitter'],
      ['schedules.4.jitter_s', 'jitter'],
      ['schedules.5.every_s', 'positive'],
      ['schedules.6.parameters', 'json'],
      ['schedules.7.job', 'required'],
    ]);
    expect(issuesOf({ schedules: rows })).toEqual([]);
  });

  it('pointers of the server lead to fields of schedule rows', () => {
    expect(fieldOf('/schedules/1/cron_expression', true)).toBe('schedules.1.cron_expression');
    expect(fieldOf('/schedules/2/every_ms', true)).toBe('schedules.2.every_s');
    expect(fieldOf('/schedules/0/end_time', true)).toBe('schedules.0.end_time');
    expect(fieldOf('/schedules/0/calendar', true)).toBe('schedules.0.calendar');
    expect(fieldOf('/schedules/0/parameters/n', true)).toBe('schedules.0.parameters');
    expect(fieldOf('/schedules/3/job', true)).toBe('schedules.3.job');
    expect(fieldOf('/schedules/0', true)).toBe('schedules.0.kind');
    expect(fieldOf('/schedules', true)).toBe('kind');
  });
});

it('retry intervals are a list that is left out when there is none', () => {
  expect(intervalsOf(' 10, 60 600')).toEqual([10, 60, 600]);
  for (const wrong of ['a', '-1', '1.5', '86401', '1,'.repeat(101)])
    expect(intervalsOf(wrong), wrong).toBeNull();
  expect(definitionFrom(DEFAULTS, {})).not.toHaveProperty('retry_intervals');
  expect(definitionFrom({ ...DEFAULTS, retry_intervals: '5' }, {}).retry_intervals).toEqual([5]);
  expect(definitionFrom(DEFAULTS, { retry_intervals: [1] }).retry_intervals).toEqual([]);
  expect(definitionFrom(DEFAULTS, {})).not.toHaveProperty('user_id');
  expect(definitionFrom({ ...DEFAULTS, user_id: 'user-3' }, { user_id: 'user-2' }).user_id).toBe('user-3');
});

describe('form validation', () => {
  it('the form reports each invalid field', () => {
    expect(issuesOf({})).toEqual([]);
    expect(issuesOf({ name: ' ' })).toEqual([['name', 'required']]);
    expect(issuesOf({ command: '' })).toEqual([['command', 'required']]);
    expect(issuesOf({ command: '', type: 'noop' })).toEqual([]);
    expect(issuesOf({ job_id: 'Upper' })).toEqual([['job_id', 'job_id']]);
    expect(issuesOf({ priority: '101' })).toEqual([['priority', 'range:0:100']]);
    expect(issuesOf({ timeout: '1.5' })).toEqual([['timeout', 'range:1:604800']]);
    expect(issuesOf({ labels: 'no value' })).toEqual([['labels', 'lines']]);
    expect(issuesOf({ parameters: '[1]' })).toEqual([['parameters', 'json']]);
    expect(issuesOf({ kind: 'rate', every_s: '0' })).toEqual([['every_s', 'positive']]);
    expect(issuesOf({ kind: 'cron', cron_expression: '' })).toEqual([['cron_expression', 'required']]);
    expect(issuesOf({ kind: 'manual', cron_expression: '' })).toEqual([]);
  });
});

it('lines are read as names and values', () => {
  expect(linesOf('a=1\n\n b = x=y ')).toEqual({ a: '1', b: 'x=y' });
  expect(linesOf('a=1\na=2')).toBeNull();
  expect(linesOf('=1')).toBeNull();
  expect(parametersOf('')).toEqual({});
  expect(parametersOf('{"a":')).toBeNull();
});

it('pointers of the server lead to fields', () => {
  expect(fieldOf('/cron_expression')).toBe('cron_expression');
  expect(fieldOf('/schedules/0/cron_expression')).toBe('cron_expression');
  expect(fieldOf('/schedules/0/every_ms')).toBe('every_s');
  expect(fieldOf('/executor_selector')).toBe('executor_selector');
  expect(fieldOf('/catch_up_max')).toBe('catch_up_max');
  expect(fieldOf('/retry_intervals/0')).toBe('retry_intervals');
  expect(fieldOf('/of_a_later_version')).toBeNull();
  expect(fieldOf('')).toBeNull();
});

it('a conflict lists the differing fields', () => {
  expect(differences({ a: 1, b: 1 }, { a: 2, b: 1 }, { a: 1, b: 3 })).toEqual([
    { field: 'a', base: 1, mine: 2, theirs: 1 },
    { field: 'b', base: 1, mine: 1, theirs: 3 },
  ]);
});

it('a single trigger has fields of its own, also with parameters', () => {
  const schedules = [
    {
      kind: 'event',
      type: 'order.*',
      source: 'shop',
      filter: 'data.n > 1',
      parameters: { n: '{{event.data.n}}' },
    },
  ];
  const values = valuesOf({ name: 'a', schedules });
  expect(values).toMatchObject({
    kind: 'event',
    event_type: 'order.*',
    event_source: 'shop',
    event_filter: 'data.n > 1',
  });
  expect(schedulesOf(values)).toEqual(schedules);
  expect(issuesOf({ kind: 'event', event_type: ' ' })).toEqual([['event_type', 'required']]);
  expect(issuesOf({ kind: 'event', event_type: '*', event_parameters: '[' })).toEqual([
    ['event_parameters', 'json'],
  ]);
  expect(fieldOf('/schedules/0/filter')).toBe('event_filter');
  expect(fieldOf('/schedules/0/parameters/n')).toBe('event_parameters');
});

it('a trigger among several schedules is a row', () => {
  const schedules = [
    { kind: 'event', type: 'order.paid' },
    { kind: 'event', type: '*', source: 'shop', filter: 'data.n > 1', parameters: { n: 1 } },
  ];
  const values = valuesOf({ name: 'a', schedules });
  expect(values.kind).toBe('several');
  expect(schedulesOf(values)).toEqual(schedules);
  expect(fieldOf('/schedules/1/filter', true)).toBe('schedules.1.filter');
  expect(fieldOf('/schedules/1/parameters/n', true)).toBe('schedules.1.parameters');
});

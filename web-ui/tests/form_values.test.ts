import { describe, expect, it } from 'vitest';
import {
  DEFAULTS, definitionFrom, differences, fieldOf, formSchema, linesOf, normalised, parametersOf, valuesOf,
} from '../src/features/jobs/form_values';

const issuesOf = (change: object) => {
  const result = formSchema.safeParse({ ...DEFAULTS, name: 'a', command: 'true', cron_expression: '* * * * *', ...change });
  return result.success ? [] : result.error.issues.map((one) => [one.path[0], one.message]);
};

describe('a definition', () => {
  it('comes out of the form as it went in, with the fields that the form does not show', () => {
    const job = normalised({
      job_id: 'a', name: 'A', type: 'shell', command: 'echo a', cron_expression: '0 3 * * *', time_zone: 'Europe/Paris',
      catch_up_max: 7, retry_intervals: [1, 2], labels: { team: 'x', note: 'a=b' }, parameters: { n: 1 },
      env: {}, enabled: true, priority: 5, timeout: 60, queue_timeout: 0, kill_grace: 10, retry_count: 0, retry_interval: 60,
      description: '', misfire_policy: 'all', overlap_policy: 'skip', dst_gap: 'skip', dst_repeat: 'both',
      executor_selector: '', executor_id: '', routing: 'random', retry_backoff: 'fixed', on_lost: 'hold',
    });
    expect(definitionFrom(valuesOf(job), job)).toEqual({ ...job, namespace: 'default' });
  });

  it('says the same in both views of its schedules', () => {
    expect(normalised({ cron_expression: '0 3 * * *', time_zone: 'Asia/Tokyo' }).schedules).toEqual([
      { kind: 'cron', cron_expression: '0 3 * * *', time_zone: 'Asia/Tokyo' },
    ]);
    expect(normalised({ schedules: [{ kind: 'rate', every_ms: 5000 }] }).cron_expression).toBeNull();
    expect(normalised({ time_zone: 'UTC', schedules: [{ kind: 'cron', cron_expression: '0 3 * * *', time_zone: 'Asia/Tokyo' }] })
      .cron_expression).toBeNull();
  });

  it('keeps several schedules, and a rate with a start of its own, as they are', () => {
    for (const schedules of [
      [{ kind: 'once', at: '2030-01-01T00:00:00Z' }, { kind: 'rate', every_ms: 5000 }],
      [{ kind: 'rate', every_ms: 5000, start_time: '2026-03-01T00:00:00Z' }],
    ]) {
      const values = valuesOf({ name: 'a', schedules });
      expect(values.kind).toBe('several');
      expect(definitionFrom(values, { schedules }).schedules).toEqual(schedules);
    }
  });
});

describe('what the form refuses', () => {
  it('is told by field', () => {
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

it('lines are names and values', () => {
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
  expect(fieldOf('/catch_up_max')).toBeNull();
  expect(fieldOf('')).toBeNull();
});

it('a conflict shows what differs', () => {
  expect(differences({ a: 1, b: 1 }, { a: 2, b: 1 }, { a: 1, b: 3 })).toEqual([
    { field: 'a', base: 1, mine: 2, theirs: 1 }, { field: 'b', base: 1, mine: 1, theirs: 3 },
  ]);
});

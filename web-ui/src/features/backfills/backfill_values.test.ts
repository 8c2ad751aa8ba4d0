import { describe, expect, it } from 'vitest';
import type { Job } from '../../api/types';
import { bodyOf, repeatedOf, startOf, wrongIn } from './backfill_values';

const NOW = Date.parse('2026-03-10T12:00:00Z');
const jobWith = (...schedules: object[]) => ({ job_id: 'a', schedules }) as unknown as Job;
const cron = { kind: 'cron', cron_expression: '0 3 * * *', schedule_id: 5 };
const rate = { kind: 'rate', every_ms: 60_000, schedule_id: 6 };

describe('the values of a backfill', () => {
  it('a new backfill covers the last day and the first of several schedules', () => {
    const once = { kind: 'once', at: '2026-03-01T00:00:00Z', schedule_id: 7 };
    expect(repeatedOf(jobWith(once, cron))).toEqual([cron]);
    expect(startOf(jobWith(cron), 'UTC', NOW)).toMatchObject({
      from: '2026-03-09T12:00',
      to: '2026-03-10T11:59',
      schedule: '',
    });
    expect(startOf(jobWith(cron, rate), 'UTC', NOW).schedule).toBe('5');
  });

  it('a backfill request carries instants of the chosen zone', () => {
    const values = { ...startOf(jobWith(cron, rate), 'Europe/Berlin', NOW), concurrency: '4' };
    expect(
      bodyOf(
        { ...values, from: '2026-03-01T00:00', to: '2026-03-02T00:00', descending: true },
        'Europe/Berlin',
      ),
    ).toEqual({
      from: '2026-02-28T23:00:00.000Z',
      to: '2026-03-01T23:00:00.000Z',
      schedule_id: 5,
      order: 'descending',
      rerun: 'none',
      concurrency: 4,
    });
  });

  it('the backfill form reports each invalid field', () => {
    const values = startOf(jobWith(cron), 'UTC', NOW);
    expect(wrongIn(values, 'UTC')).toEqual([]);
    expect(wrongIn({ ...values, from: '' }, 'UTC')).toContain('from');
    expect(wrongIn({ ...values, to: values.from }, 'UTC')).toEqual(['to']);
    for (const concurrency of ['0', '101', 'x', '']) {
      expect(wrongIn({ ...values, concurrency }, 'UTC')).toEqual(['concurrency']);
    }
  });
});

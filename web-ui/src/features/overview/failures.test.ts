import { describe, expect, it } from 'vitest';
import type { Run } from '../../api/types';
import { durationsOf, percentile } from '../jobs/detail/duration_values';
import { lastDays, perHour } from './failures';

describe('failures', () => {
  it('the failure map covers today and the six days before in the zone', () => {
    const days = lastDays(Date.parse('2026-03-01T20:00:00Z'), 'Asia/Kolkata');
    expect([days.length, days[0], days.at(-1)]).toEqual([7, '2026-02-24', '2026-03-02']);
  });
  it('the failure map counts by hour, with the bounds of that hour', () => {
    const hours = perHour(
      ['2026-03-01T20:10:00Z', '2026-03-01T20:29:59Z', '2026-03-01T20:30:00Z'],
      'Asia/Kolkata',
    );
    expect(hours.get('2026-03-02 1')).toEqual({
      count: 2,
      from: Date.parse('2026-03-01T19:30:00Z'),
      until: Date.parse('2026-03-01T20:30:00Z'),
    });
    expect(hours.get('2026-03-02 2')?.count).toBe(1);
  });
  it('the failure map joins an hour that occurs twice', () => {
    const hours = perHour(['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'], 'Europe/Paris');
    expect([...hours.keys()]).toEqual(['2026-10-25 2']);
    expect(hours.get('2026-10-25 2')).toMatchObject({ count: 2, until: Date.parse('2026-10-25T02:00:00Z') });
  });
});

describe('durations', () => {
  const run = (id: string, started: string | null, ended: string | null) =>
    ({ run_id: id, fire_time: '', state: 'COMPLETED', started_at: started, ended_at: ended }) as Run;
  it('durations are taken from runs that started and ended, oldest first', () => {
    const took = durationsOf([
      run('c', '2026-01-01T00:00:02Z', '2026-01-01T00:00:05Z'),
      run('b', null, '2026-01-01T00:00:02Z'),
      run('a', '2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'),
    ]);
    expect(took.map((one) => [one.run_id, one.ms])).toEqual([
      ['a', 1000],
      ['c', 3000],
    ]);
  });
  it('percentiles are values of the list', () => {
    const values = Array.from({ length: 100 }, (_, i) => 100 - i);
    expect([percentile(values, 50), percentile(values, 95), percentile([7], 95), percentile([], 50)]).toEqual(
      [50, 95, 7, 0],
    );
  });
});

import { describe, expect, it } from 'vitest';
import { describeCron } from './describe';
import { en } from './texts.en';

const t = (key: string, values: Record<string, unknown> = {}) =>
  String((en as Record<string, string>)[key]).replace('{{list}}', String(values.list));

describe('a cron expression in words', () => {
  it.each([
    ['0 3 * * *', 'At 03:00'],
    ['0 3 * * THU', 'At 03:00, only on Thursday'],
    ['H * * * *', 'At a minute of the hour chosen for this job'],
    ['H 3 * * *', 'At a minute of the hour chosen for this job, between 03:00 and 03:59'],
    ['0 H H * * *', 'At a minute of the hour and an hour of the day chosen for this job'],
    [
      'H H(0-5) * * 1',
      'At a minute of the hour and an hour of the day (0-5) chosen for this job, only on Monday',
    ],
    ['0 H * * *', 'At an hour of the day chosen for this job'],
    ['30 H * * *', 'At an hour of the day chosen for this job, at 30 minutes past the hour'],
    ['H/15 * * * *', 'Every 15 minutes, from a minute of the hour chosen for this job on'],
    [
      'H(0-29)/10 * * * *',
      'Every 10 minutes, minutes 0 through 29 past the hour, from a minute of the hour chosen for this job on',
    ],
    ['0 3 H * *', 'At 03:00, on a day of the month chosen for this job'],
    ['H,30 * * * *', 'At a minute of the hour chosen for this job'],
    ['0 0 12 * * ? 2027', 'At 12:00, only in 2027'],
    ['0 0 30L * *', ''],
    ['rubbish', ''],
  ])('describeCron explains %s', (expression, words) =>
    expect(describeCron(expression, 'en', t)).toBe(words),
  );
});

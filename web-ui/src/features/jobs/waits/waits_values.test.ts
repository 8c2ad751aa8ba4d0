// Waits of a job in the fields of the form and in words.
import '../../../../test_support/texts';
import i18next from 'i18next';
import { describe, expect, it } from 'vitest';
import type { UpstreamWait } from '../../../api/types';
import { DEFAULTS, formSchema } from '../form/form_schema';
import { definitionFrom, fieldOf, valuesOf } from '../form/form_values';
import { waitText } from './waits_text';
import { EMPTY_WAIT, durationText, secondsOf, type WaitRow } from './waits_values';

const job = { name: 'Close the day', type: 'shell', command: 'true' };
const WAITS: UpstreamWait[] = [
  { job: 'load', on: 'success', window: { day: 0 }, which: 'last' },
  { job: 'load', in: 'nightly', on: 'done', window: { day: -1 }, which: 'all' },
  { job: 'stock', on: 'success', window: { day: -3 }, which: 'last' },
  { job: 'rates', on: 'success', window: { back_s: 5400, ahead_s: 0 }, which: 'last' },
  { job: 'rates', on: 'success', window: { back_s: 7200, ahead_s: 3600 }, which: 'all' },
  { job: 'rates', on: 'success', window: { back_s: 0, ahead_s: 86_400 }, which: 'last' },
];
const wrongAt = (row: Partial<WaitRow>, more: Partial<typeof DEFAULTS> = {}) => {
  const values = { ...DEFAULTS, name: 'n', command: 'true', cron_expression: '@daily' };
  const checked = formSchema.safeParse({
    ...values,
    waits: [{ ...EMPTY_WAIT, job: 'load', ...row }],
    ...more,
  });
  return checked.success ? [] : checked.error.issues.map((one) => [one.path.join('.'), one.message]);
};

describe('the waits of a job', () => {
  it('the form returns each form of it unchanged', () => {
    const waiting = { ...job, waits_for: WAITS, wait_limit_s: 21_600 };
    const { waits_for, wait_limit_s } = definitionFrom(valuesOf(waiting), waiting);
    expect({ waits_for, wait_limit_s }).toEqual({ waits_for: WAITS, wait_limit_s: 21_600 });
    const plain = definitionFrom(valuesOf(job), job);
    expect('waits_for' in plain || 'wait_limit_s' in plain).toBe(false);
  });

  it('the form keeps an entry with what it does not know until the entry is changed', () => {
    const short = { job: 'load', window: { day: 0 }, newer: 1 } as unknown as UpstreamWait;
    const waiting = { ...job, waits_for: [short], wait_limit_s: 60 };
    const values = valuesOf(waiting);
    expect(definitionFrom(values, waiting).waits_for).toEqual([short]);
    values.waits[0]!.job = ' stock ';
    expect(definitionFrom(values, waiting).waits_for).toEqual([
      { job: 'stock', on: 'success', window: { day: 0 }, which: 'last' },
    ]);
  });

  it('the last entry that is removed takes the limit with it', () => {
    const waiting = { ...job, waits_for: WAITS, wait_limit_s: 21_600 };
    const left = definitionFrom({ ...valuesOf(waiting), waits: [] }, waiting);
    expect('waits_for' in left || 'wait_limit_s' in left).toBe(false);
  });

  it('the form validates the bounds', () => {
    expect(wrongAt({})).toEqual([]);
    expect(wrongAt({ job: ' ' })).toEqual([['waits.0.job', 'required']]);
    expect(wrongAt({ in: 'load' })).toEqual([['waits.0.in', 'wait_in']]);
    expect(wrongAt({ window: 'before', days: '31' })).toEqual([]);
    for (const days of ['0', '32', '', '1.5'])
      expect(wrongAt({ window: 'before', days })).toEqual([['waits.0.days', 'range:1:31']]);
    expect(wrongAt({ window: 'span', back: '31d', ahead: '7d' })).toEqual([]);
    expect(wrongAt({ window: 'span', back: '2h30' })).toEqual([['waits.0.back', 'duration']]);
    expect(wrongAt({ window: 'span', back: '31d1s' })).toEqual([['waits.0.back', 'duration_most:31d']]);
    expect(wrongAt({ window: 'span', ahead: '8d' })).toEqual([['waits.0.ahead', 'duration_most:7d']]);
    expect(wrongAt({ window: 'span', back: '0s', ahead: '0' })).toEqual([['waits.0.back', 'wait_span']]);
    for (const limit of ['', '59', '7d1s', 'x'])
      expect(wrongAt({}, { wait_limit: limit })).toEqual([['wait_limit', 'wait_limit']]);
    expect(wrongAt({}, { wait_limit: '1m' })).toEqual([]);
    expect(wrongAt({}, { waits: [], wait_limit: '' })).toEqual([]);
  });

  it('pointers of the server lead to the fields', () => {
    const places = [
      '',
      '/job',
      '/in',
      '/on',
      '/which',
      '/window',
      '/window/day',
      '/window/back_s',
      '/window/ahead_s',
    ];
    expect(places.map((one) => fieldOf('/waits_for/1' + one))).toEqual(
      ['job', 'job', 'in', 'on', 'which', 'window', 'days', 'back', 'ahead'].map((name) => 'waits.1.' + name),
    );
    expect(fieldOf('/waits_for')).toBeNull();
    expect(fieldOf('/wait_limit_s')).toBe('wait_limit');
  });

  it('times are read and written as short texts', () => {
    for (const [seconds, text] of [
      [0, '0s'],
      [90, '1m30s'],
      [5400, '1h30m'],
      [86_400, '1d'],
      [90_061, '1d1h1m1s'],
    ] as const) {
      expect(durationText(seconds)).toBe(text);
      expect(secondsOf(text)).toBe(seconds);
    }
    expect(secondsOf(' 300 ')).toBe(300);
    for (const text of ['', '1.5h', '-1', '1w', 'h']) expect(secondsOf(text)).toBeNull();
  });

  it('the page of the job says it in words', () => {
    const t = i18next.t.bind(i18next);
    expect(WAITS.map((wait) => waitText(wait, t, 'en'))).toEqual([
      'last fire of the same day · success',
      'every fire of the day before · success or failure',
      'last fire of 3 days before · success',
      'last fire within 1 h 30 min before · success',
      'every fire within 2 h before, otherwise the first within 1 h after · success',
      'first fire at the same time or within 1 d after · success',
    ]);
  });
});

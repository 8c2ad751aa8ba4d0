import { describe, expect, it } from 'vitest';
import { parseSearch, stringifySearch } from './search_params';
import { timeline } from '../features/runs/detail/run_text';
import { absoluteTime, bytes, countdown, readable, relativeTime, span } from './format';
import type { Run } from '../api/types';

const T = Date.parse('2026-03-29T01:00:00Z');

describe('times', () => {
  it('absoluteTime shows the offset, even where it changes', () => {
    expect(absoluteTime(T - 1000, 'Europe/Paris')).toBe('2026-03-29 01:59:59 +01:00');
    expect(absoluteTime(T, 'Europe/Paris')).toBe('2026-03-29 03:00:00 +02:00');
    expect(absoluteTime(T, 'UTC')).toBe('2026-03-29 01:00:00 UTC');
    expect(absoluteTime(T, 'Asia/Kolkata')).toBe('2026-03-29 06:30:00 +05:30');
  });

  it('readable shows times of a server sentence to the second', () => {
    expect(readable('It is due at 2026-11-24T21:00:36.385476Z.')).toBe(
      'It is due at 2026-11-24 21:00:36 UTC.',
    );
    expect(readable('No time here.')).toBe('No time here.');
  });

  it('absoluteTime falls back to UTC for an unknown zone', () => {
    expect(absoluteTime(T, 'Mars/Olympus')).toBe('2026-03-29 01:00:00 +00:00');
  });

  it('relativeTime uses whole units, rounded towards now', () => {
    expect(relativeTime(T + 119_000, T, 'en')).toBe('in 1 min.');
    expect(relativeTime(T - 7_200_000, T, 'en')).toBe('2 hr. ago');
    expect(relativeTime(T + 400, T, 'en')).toBe('now');
    expect(relativeTime(T - 60_000, T, 'zh-CN')).toBe('1分钟前');
  });
});

describe('spans', () => {
  it.each([
    [0, '0 ms'],
    [0.4, '0 ms'],
    [850, '850 ms'],
    [1000, '1 s'],
    [1290, '1.2 s'],
    [59_999, '59.9 s'],
    [60_000, '1 min'],
    [125_000, '2 min 5 s'],
    [12_000_000, '3 h 20 min'],
    [180_000_000, '2 d 2 h'],
    [-1500, '−1.5 s'],
  ])('span shows %d ms as %s', (ms, text) => {
    expect(span(ms, 'en')).toBe(text);
  });

  it.each([
    [0, '0 毫秒'],
    [850, '850 毫秒'],
    [1290, '1.2 秒'],
    [3_583_000, '59 分 43 秒'],
    [12_000_000, '3 小时 20 分'],
    [180_000_000, '2 天 2 小时'],
    [-1500, '−1.5 秒'],
  ])('span shows %d ms as %s in Chinese', (ms, text) => {
    expect(span(ms, 'zh-CN')).toBe(text);
  });

  it('countdown shows whole seconds', () => {
    expect(countdown(61, 'en')).toBe('1 min 1 s');
    expect(countdown(0, 'en')).toBe('0 s');
    expect(countdown(0, 'zh-CN')).toBe('0 秒');
  });
});

describe('bytes', () => {
  it('bytes uses binary units', () => {
    const texts = [0, 1023, 1024, 25_165_824, 5 * 2 ** 30, 2500 * 2 ** 40].map((value) => bytes(value, 'en'));
    expect(texts).toEqual(['0 B', '1,023 B', '1 KiB', '24 MiB', '5 GiB', '2,500 TiB']);
  });
});

describe('search parameters', () => {
  it('search parameters repeat plainly in both directions', () => {
    const text = '?state=FAILED&state=LOST&q=a%26b+c';
    expect(parseSearch(text)).toEqual({ state: ['FAILED', 'LOST'], q: 'a&b c' });
    expect(stringifySearch(parseSearch(text))).toBe(text);
  });
  it('search parameters leave out what is not set', () => {
    expect(stringifySearch({ a: undefined, b: '', c: [] })).toBe('');
  });
});

describe('the timeline of a run', () => {
  it('the timeline measures each step from the last known one', () => {
    const run = {
      planned_at: '2026-03-01T00:00:00Z',
      fire_time: '2026-03-01T00:00:10Z',
      claimed_at: null,
      started_at: '2026-03-01T00:00:10.250Z',
      ended_at: null,
    } as Run;
    expect(timeline(run).map((step) => [step.key, step.after])).toEqual([
      ['planned', null],
      ['fire', 10_000],
      ['claimed', null],
      ['started', 250],
      ['ended', null],
    ]);
  });

  it('the timeline of a shard begins with the fire, since shards are made after it', () => {
    const run = {
      fire_time: '2026-03-01T00:00:00Z',
      planned_at: '2026-03-01T00:00:03Z',
      claimed_at: '2026-03-01T00:00:04Z',
    } as Run;
    expect(
      timeline(run)
        .slice(0, 3)
        .map((step) => [step.key, step.after]),
    ).toEqual([
      ['fire', null],
      ['planned', 3000],
      ['claimed', 1000],
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { bars, byDay, heat, isDate, spanOf } from './spread';

describe('the spread of fires', () => {
  it('the heat scale has a level for every count and none for zero', () => {
    expect([0, 1, 25, 26, 100].map((n) => heat(n, 100))).toEqual([0, 1, 1, 2, 4]);
    expect(heat(1, 1)).toBe(4);
  });
  it('a day has the length it has in its zone', () => {
    const hours = (date: string) => {
      const { from, until } = spanOf('day', date, 'Europe/Paris');
      return (Date.parse(until) - Date.parse(from)) / 3_600_000;
    };
    expect([hours('2026-03-28'), hours('2026-03-29'), hours('2026-10-25')]).toEqual([24, 23, 25]);
  });
  it('a week covers Monday to Sunday', () => {
    const span = spanOf('week', '2026-03-01', 'UTC'); // a Sunday
    expect([span.days[0], span.days.at(-1), span.from, span.until]).toEqual([
      '2026-02-23',
      '2026-03-01',
      '2026-02-23T00:00:00.000Z',
      '2026-03-02T00:00:00.000Z',
    ]);
    expect(spanOf('week', '2026-02-23', 'UTC').from).toBe(span.from);
  });
  it('hours are labelled by the clock of the zone', () => {
    const days = byDay(
      [
        { start: '2026-03-01T18:00:00Z', fires: 1 },
        { start: '2026-03-01T19:00:00Z', fires: 2 },
      ],
      'Asia/Kolkata',
    );
    expect([...days].map(([day, hours]) => [day, hours.map((one) => one.label)])).toEqual([
      ['2026-03-01', ['23:30']],
      ['2026-03-02', ['00:30']],
    ]);
  });
  it('the bars show even the smallest count', () => {
    expect(
      bars(
        [
          { start: '', fires: 0 },
          { start: '', fires: 1000 },
          { start: '', fires: 1 },
        ],
        60,
      ),
    ).toBe('M1 60h1v-60h-1zM2 60h1v-2h-1z');
    expect(bars([{ start: '', fires: 0 }], 60)).toBe('');
  });
  it('isDate accepts only full dates', () => {
    expect(isDate('2026-03-01')).toBe(true);
    for (const text of [undefined, '', 'today', '2026-3-1']) expect(isDate(text)).toBe(false);
  });
});

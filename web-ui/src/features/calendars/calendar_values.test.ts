import { describe, expect, it } from 'vitest';
import type { CalendarDefinition } from '../../api/types';
import {
  EMPTY,
  daysOf,
  definitionOf,
  fieldOf,
  lastDaySoon,
  timesText,
  valuesOf,
  wrongIn,
  yearFrom,
} from './calendar_values';

describe('the definition of a calendar', () => {
  it('the calendar form returns a definition unchanged', () => {
    for (const definition of [
      { time_zone: 'UTC' },
      {
        time_zone: 'Europe/Berlin',
        weekdays: ['mon', 'tue'],
        dates: ['2026-12-24', '2027-01-02'],
        except: ['2026-12-25'],
        intervals: ['22:00-06:00', '09:00-17:00'],
      },
    ] as CalendarDefinition[]) {
      expect(definitionOf(valuesOf(definition))).toEqual(definition);
    }
  });

  it('the calendar form drops empty lists and sorts weekdays and dates', () => {
    expect(
      definitionOf({
        time_zone: ' UTC ',
        weekdays: ['sun', 'mon'],
        dates: ' 2027-01-01 \n\n2026-01-01',
        except: '\n ',
        intervals: '09:00 - 17:00',
      }),
    ).toEqual({
      time_zone: 'UTC',
      weekdays: ['mon', 'sun'],
      dates: ['2026-01-01', '2027-01-01'],
      intervals: ['09:00-17:00'],
    });
  });

  it('the calendar form reports the invalid line of each field', () => {
    expect(wrongIn(EMPTY)).toEqual([]);
    expect(
      wrongIn({
        ...EMPTY,
        time_zone: 'Mars/Olympus',
        dates: '2026-02-28\n2026-02-29',
        except: '24.12.2026',
        intervals: '9-17',
      }),
    ).toEqual([
      { field: 'time_zone' },
      { field: 'dates', line: '2026-02-29' },
      { field: 'except', line: '24.12.2026' },
      { field: 'intervals', line: '9-17' },
    ]);
  });

  it('the calendar form maps pointers of the server to fields', () => {
    expect(['/dates/3', '/time_zone', ''].map(fieldOf)).toEqual(['dates', 'time_zone', '']);
  });
});

describe('a preview', () => {
  const zone = 'Europe/Berlin';
  it('the preview marks the local days that have times', () => {
    const items = [
      { from: '2026-03-02T08:00:00.000000Z', to: '2026-03-02T16:00:00.000000Z' },
      { from: '2026-03-05T23:00:00.000000Z', to: '2026-03-07T23:00:00.000000Z' },
    ];
    expect([...daysOf(items, zone)]).toEqual(['2026-03-02', '2026-03-06', '2026-03-07']);
    expect(items.map((one) => timesText(one, zone))).toEqual([
      '2026-03-02 09:00 – 17:00',
      '2026-03-06 00:00 – 2026-03-08 00:00',
    ]);
  });

  it('the preview of a year has twelve months that begin on their weekdays', () => {
    const months = yearFrom('2026-03-15');
    expect(months.map((one) => one.month).at(0)).toBe('2026-03');
    expect(months.map((one) => one.month).at(-1)).toBe('2027-02');
    expect(months.map((one) => one.days.length)).toEqual([31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31, 28]);
    expect(months.slice(0, 3).map((one) => one.blanks)).toEqual([6, 2, 4]);
  });
});

describe('the end of the listed days', () => {
  it('the last day is told when it has passed or is near', () => {
    const lists: CalendarDefinition = {
      time_zone: 'UTC',
      dates: ['2026-02-14'],
      except: ['2026-10-07', '2026-10-01'],
    };
    expect(lastDaySoon(lists, Date.parse('2026-09-01T00:00Z'))).toBeNull();
    expect(lastDaySoon(lists, Date.parse('2026-09-07T00:00Z'))).toBe('2026-10-07');
    expect(lastDaySoon(lists, Date.parse('2027-01-01T00:00Z'))).toBe('2026-10-07');
    expect(lastDaySoon(lists, Date.parse('2027-11-12T00:00Z'))).toBeNull();
    expect(lastDaySoon({ time_zone: 'UTC', weekdays: ['mon'] }, Date.now())).toBeNull();
  });
});

import { describe, expect, it } from 'vitest';
import { picked } from '../features/jobs/detail/version_text';
import { addDays, instantIn, isZone, localIn } from './zones';
import { valueText } from './value_text';

const iso = (at: number) => new Date(at).toISOString();

describe('a time on a zone’s clock', () => {
  it('a local time is an instant of its zone', () => {
    expect(iso(instantIn('Asia/Kolkata', '2026-03-01T12:00'))).toBe('2026-03-01T06:30:00.000Z');
    expect(iso(instantIn('America/New_York', '2026-07-01'))).toBe('2026-07-01T04:00:00.000Z');
  });
  it('a local time that occurs twice is the first of the two', () => {
    expect(iso(instantIn('Europe/Paris', '2026-10-25T02:30'))).toBe('2026-10-25T00:30:00.000Z');
  });
  it('a local time that the clock skips is after the jump', () => {
    expect(instantIn('Europe/Paris', '2026-03-29T02:30')).toBeGreaterThanOrEqual(
      Date.parse('2026-03-29T01:00:00Z'),
    );
    expect(localIn('Europe/Paris', instantIn('Europe/Paris', '2026-03-29T02:30'))).toBe('2026-03-29T03:30');
  });
  it('a local time is shown as entered, and invalid input is no time', () => {
    expect(localIn('Asia/Kolkata', Date.parse('2026-03-01T06:30:42.5Z'))).toBe('2026-03-01T12:00');
    expect(instantIn('UTC', 'soon')).toBeNaN();
    expect(isZone('Europe/Atlantis')).toBe(false);
  });
  it('addDays counts over the end of a month', () => {
    expect(addDays('2026-02-28', 1)).toBe('2026-03-01');
    expect(addDays('2026-03-01', -7)).toBe('2026-02-22');
  });
});

describe('versions', () => {
  it('versions are compared two at a time, the newer one first', () => {
    expect(picked([], 3)).toEqual(['3', undefined]);
    expect(picked([3], 1)).toEqual(['3', '1']);
    expect(picked([3, 1], 3)).toEqual(['1', undefined]);
    expect(picked([3, 1], 7)).toEqual(['7', '1']);
  });
  it('version values are shown as they were written', () => {
    expect(valueText('')).toBe('–');
    expect(valueText('a\nb')).toBe('a\nb');
    expect(valueText(0)).toBe('0');
    expect(valueText(false)).toBe('false');
    expect(valueText(['a'])).toContain('"a"');
  });
});

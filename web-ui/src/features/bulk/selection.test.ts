import { describe, expect, it } from 'vitest';
import { NOTHING, areAllTicked, countOf, everything, isTicked, only, tick, tickShown } from './selection';

const rows = ['a', 'b', 'c', 'd', 'e'];
const chosen = (selection: { ids: ReadonlySet<string> }) => [...selection.ids].toSorted();

describe('a selection', () => {
  it('a selection is ticked row by row', () => {
    const two = tick(tick(NOTHING, 'b', rows, false), 'd', rows, false);
    expect(chosen(two)).toEqual(['b', 'd']);
    expect(chosen(tick(two, 'b', rows, false))).toEqual(['d']);
  });
  it('a selection takes a range up or down to the state of its last row', () => {
    const range = tick(tick(NOTHING, 'd', rows, false), 'b', rows, true);
    expect(chosen(range)).toEqual(['b', 'c', 'd']);
    expect(chosen(tick(tick(range, 'b', rows, false), 'c', rows, true))).toEqual(['d']);
  });
  it('a selection takes one row when the range has no beginning', () => {
    expect(chosen(tick(NOTHING, 'c', rows, true))).toEqual(['c']);
    expect(chosen(tick(tick(NOTHING, 'gone', ['gone'], false), 'c', rows, true))).toEqual(['c', 'gone']);
  });
  it('a selection takes all shown rows and releases them', () => {
    const all = tickShown(tick(NOTHING, 'b', rows, false), rows);
    expect(areAllTicked(all, rows)).toBe(true);
    expect(chosen(tickShown(all, rows))).toEqual([]);
    expect(areAllTicked(NOTHING, [])).toBe(false);
  });
  it('a selection of everything includes rows loaded later, until one is taken out', () => {
    const all = everything(rows, 137, false);
    expect(countOf(all)).toBe(137);
    expect(isTicked(all, 'later')).toBe(true);
    const without = tick(all, 'later', [...rows, 'later'], false);
    expect(countOf(without)).toBe(5);
    expect(without.all).toBeNull();
  });
  it('a selection keeps the failed rows', () => expect(chosen(only(['b']))).toEqual(['b']));
});

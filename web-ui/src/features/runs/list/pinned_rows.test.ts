import { describe, expect, it } from 'vitest';
import { rangeOf } from '../../lists/filters/range_values';
import { pinnedRows } from './pinned_rows';

interface Row {
  id: string;
  state?: string;
}
const rows = (text: string): Row[] => text.split('').map((id) => ({ id }));
const ids = (all: readonly Row[]) => all.map((one) => one.id).join('');
const read = (shown: string, now: string, hasMore = false) => {
  const { rows: after, news } = pinnedRows(rows(shown), rows(now), (row) => row.id, hasMore);
  return [ids(after), news];
};

describe('pinned rows', () => {
  it('pinned rows take all rows at first', () => expect(read('', 'cba')).toEqual(['cba', 0]));
  it('pinned rows hold back and count new rows above them', () => {
    expect(read('cba', 'edcba')).toEqual(['cba', 2]);
    expect(read('cba', 'cxba')).toEqual(['cba', 1]);
  });
  it('pinned rows take rows loaded below at once', () =>
    expect(read('dcb', 'edcba', true)).toEqual(['dcba', 1]));
  it('pinned rows drop rows that are gone', () => {
    expect(read('dcba', 'dba')).toEqual(['dba', 0]);
    expect(read('cba', 'edcb')).toEqual(['cb', 2]);
    expect(read('cba', 'xyz')).toEqual(['xyz', 0]);
    expect(read('cba', '')).toEqual(['', 0]);
  });
  it('pinned rows keep rows that new ones pushed off the page', () => {
    expect(read('dcba', 'fedc', true)).toEqual(['dcba', 2]);
    expect(read('dcba', 'hgfe', true)).toEqual(['dcba', 4]);
    expect(read('dcba', 'fedb', true)).toEqual(['dba', 2]);
  });
  it('pinned rows show the current state of each row', () => {
    const { rows: after } = pinnedRows(
      [{ id: 'a', state: 'RUNNING' }],
      [{ id: 'b' }, { id: 'a', state: 'DONE' }] as Row[],
      (row) => row.id,
      false,
    );
    expect(after).toEqual([{ id: 'a', state: 'DONE' }]);
  });
});

describe('a range of time', () => {
  const instant = (local: string) => Date.parse(local + 'Z');
  it('a time range is open at an empty end, and must end after it begins', () => {
    expect(rangeOf('2026-03-01T10:00', '', instant)).toEqual({
      since: '2026-03-01T10:00:00.000Z',
      until: undefined,
    });
    expect(rangeOf('', '2026-03-01T10:00', instant)).toEqual({
      since: undefined,
      until: '2026-03-01T10:00:00.000Z',
    });
    expect(rangeOf('', '', instant)).toEqual({ since: undefined, until: undefined });
    expect(rangeOf('2026-03-01T10:00', '2026-03-01T10:00', instant)).toBeNull();
    expect(rangeOf('soon', '', instant)).toBeNull();
  });
});

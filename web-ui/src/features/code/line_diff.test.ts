import { describe, expect, it } from 'vitest';
import { lineDiff, nodeChanges, textOfValue } from './line_diff';

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}`);
const shown = (before: string[], after: string[]) =>
  lineDiff(before.join('\n'), after.join('\n')).map((one) =>
    one.kind === 'left_out'
      ? `… ${one.count}`
      : `${one.before ?? ''}:${one.after ?? ''} ${one.kind} ${one.text}`,
  );

describe('the difference of two texts', () => {
  it('a changed line is shown with three lines around it', () => {
    const before = numbered(20);
    expect(shown(before, before.with(9, 'new'))).toEqual([
      '… 6',
      '7:7 same line 7',
      '8:8 same line 8',
      '9:9 same line 9',
      '10: removed line 10',
      ':10 added new',
      '11:11 same line 11',
      '12:12 same line 12',
      '13:13 same line 13',
      '… 7',
    ]);
  });

  it('numbers go on behind an added line, and one line is not left out', () => {
    expect(shown(numbered(5), ['new', ...numbered(5)])).toEqual([
      ':1 added new',
      '1:2 same line 1',
      '2:3 same line 2',
      '3:4 same line 3',
      '… 2',
    ]);
    expect(shown(numbered(4), ['new', ...numbered(4)]).at(-1)).toBe('4:5 same line 4');
    expect(shown([], ['a'])).toEqual([':1 added a']);
  });

  it('texts with nothing in common are shown one after the other', () => {
    const other = numbered(3000).map((line) => line + '!');
    const lines = shown(numbered(3000), other);
    expect(lines).toHaveLength(6000);
    expect(lines[0]).toBe('1: removed line 1');
    expect(lines[3000]).toBe(':1 added line 1!');
  });
});

it('values are compared by line if they have several lines or are long', () => {
  expect([textOfValue(3), textOfValue('short'), textOfValue(null)]).toEqual([null, null, null]);
  expect(textOfValue('a\nb')).toBe('a\nb');
  expect(textOfValue({ nodes: [{ id: 'a' }] })).toBe('nodes:\n  - id: a\n');
});

it('the nodes in which two workflows differ are named', () => {
  const before = { nodes: [{ id: 'a' }, { id: 'b', job: 'x' }, { id: 'c' }] };
  const after = { nodes: [{ id: 'c' }, { id: 'b', job: 'y' }, { id: 'd' }] };
  expect(nodeChanges(before, after)).toEqual({ added: ['d'], removed: ['a'], changed: ['b'] });
  expect(nodeChanges(null, after).added).toEqual(['c', 'b', 'd']);
});

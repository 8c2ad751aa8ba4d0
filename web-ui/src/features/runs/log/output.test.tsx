import { render, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { parseEvents } from '../../../api/events';
import { LogText, coloursAfter } from './log_lines';
import { partsOf } from './log_parts';
import { ROW_PX, heightsOf, visibleLines, rowsOf } from './log_window';
import { StateBadge } from '../../../ui/state_badge';

const RED = '\u001b[31m';
const OFF = '\u001b[0m';

describe('a line', () => {
  it('a line has its own colours and those in force at its beginning', () => {
    expect(partsOf(`${RED}red${OFF} plain`)).toEqual([
      { text: 'red', style: 'ansi-1' },
      { text: ' plain', style: '' },
    ]);
    expect(partsOf(`still${OFF} plain`, RED)).toEqual([
      { text: 'still', style: 'ansi-1' },
      { text: ' plain', style: '' },
    ]);
  });
  it('a line leaves out escapes that are no colours', () => {
    expect(partsOf('\u001b[2Ka\u001b]0;title\u0007b')).toEqual([{ text: 'ab', style: '' }]);
  });
  it('a line with many unterminated escapes is parsed in one pass', () => {
    const titles = '\u001b]'.repeat(150_000);
    expect(partsOf(titles)[0]?.text).toHaveLength(300_000);
  });
  it('a line with markup stays text', () => {
    expect(partsOf('<b>x</b>')).toEqual([{ text: '<b>x</b>', style: '' }]);
  });
});

describe('colours', () => {
  it('colours last until they are reset', () => {
    expect(coloursAfter('', `a${RED}b`)).toBe(RED);
    expect(coloursAfter(RED, 'more')).toBe(RED);
    expect(coloursAfter(RED, `end${OFF}`)).toBe('');
    expect(coloursAfter('', RED.repeat(1000))).toBe('');
  });
});

describe('events', () => {
  it('events are parsed from chunks cut anywhere', () => {
    const first = parseEvents('retry: 1000\n\nid: 1\ndata: {"a"');
    expect(first.events).toEqual([]);
    const second = parseEvents(first.rest + ':1}\n\n: still here\n\nevent: end\ndata: {}\n\n');
    expect(second.events).toEqual([
      { name: 'message', id: '1', data: '{"a":1}' },
      { name: 'end', id: '', data: '{}' },
    ]);
    expect(second.rest).toBe('');
  });
});

describe('the text of a log', () => {
  const entry = (seq: number, line: string, more: object = {}) => ({
    seq,
    t: null,
    stream: 'stdout',
    line,
    ...more,
  });
  it('the log text joins the parts of a line per stream', () => {
    const text = new LogText();
    text.add(entry(1, 'a', { partial: true }));
    text.add(entry(2, 'err', { stream: 'stderr' }));
    text.add(entry(3, 'b'));
    text.add(entry(4, 'c'));
    expect(text.lines.map((line) => line.text)).toEqual(['ab', 'err', 'c']);
    expect(text.lines.map((line) => line.open)).toEqual([false, false, false]);
  });
  it('the log text takes each entry once', () => {
    const text = new LogText();
    text.add(entry(1, 'a'));
    text.add(entry(1, 'a'));
    text.add(entry(2, 'b'));
    expect(text.lines.length).toBe(2);
    expect(text.lastSeq).toBe(2);
  });
  it('the log text carries colours over line ends', () => {
    const text = new LogText();
    text.add(entry(1, `${RED}red`));
    text.add(entry(2, 'err', { stream: 'stderr' }));
    text.add(entry(3, `still${OFF}`));
    text.add(entry(4, 'plain'));
    expect(text.lines.map((line) => line.colours)).toEqual(['', '', RED, '']);
  });
});

describe('the window of a log', () => {
  const lines = (count: number, text = 'x') =>
    Array.from({ length: count }, (_, i) => ({
      seq: i + 1,
      t: null,
      stream: 'stdout',
      text,
      colours: '',
      open: false,
      level: null,
    }));
  it('the window of a long log contains few lines', () => {
    const heights = heightsOf(lines(100_000), 0);
    expect(heights.total).toBe(100_000 * ROW_PX);
    const seen = visibleLines(heights, 50_000 * ROW_PX, 500);
    expect(seen.length).toBeLessThanOrEqual(150);
    expect(seen).toContain(50_000);
    expect(visibleLines(heights, 0, 500)[0]).toBe(0);
    expect(visibleLines(heights, heights.total, 500).at(-1)).toBe(99_999);
    expect(visibleLines(heightsOf([], 0), 0, 500)).toEqual([]);
  });
  it('the window uses the wrapped height of each line', () => {
    expect(rowsOf('', 10)).toBe(1);
    expect(rowsOf('0123456789', 10)).toBe(1);
    expect(rowsOf('0123456789a', 10)).toBe(2);
    expect(rowsOf(`${RED}0123456789${OFF}`, 10)).toBe(1);
    expect(rowsOf('\t123', 10)).toBe(2);
    expect(rowsOf('\u4e2d', 10)).toBe(2);
    const heights = heightsOf(lines(10, '0123456789a'), 10);
    expect(heights.topOf(3)).toBe(6 * ROW_PX);
    expect(heights.lineAt(6 * ROW_PX)).toBe(3);
    expect(heights.lineAt(8 * ROW_PX - 1)).toBe(3);
    expect(heights.lineAt(-5)).toBe(0);
    expect(heights.lineAt(1e9)).toBe(9);
  });
});

it('an unknown state is shown as it came', () => {
  render(<StateBadge state="HIBERNATING" />);
  expect(screen.getByText('HIBERNATING')).toBeTruthy();
});

import { fireEvent, render, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { parseEvents } from '../../../api/events';
import { LogText, type LogLine } from './log_lines';
import { LogRow } from './log_row';
import { NONE } from './terminal/terminal_row';
import { ROW_PX, heightsOf, visibleLines, rowsOf } from './log_window';
import { StateBadge } from '../../../ui/state_badge';

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
  });
  it('the log text takes each entry once', () => {
    const text = new LogText();
    text.add(entry(1, 'a'));
    text.add(entry(1, 'a'));
    text.add(entry(2, 'b'));
    expect(text.lines.length).toBe(2);
    expect(text.lastSeq).toBe(2);
  });
  it('the log text keeps the last lines of both streams apart when they have no end', () => {
    const text = new LogText();
    text.add(entry(1, 'x', { partial: true }));
    text.add(entry(2, 'Password: ', { stream: 'stderr', partial: true }));
    expect(text.lines.map((line) => line.text)).toEqual(['x', 'Password: ']);
  });
});

describe('the window of a log', () => {
  const lines = (count: number, text = 'x') =>
    Array.from({ length: count }, (_, i) => ({
      seq: i + 1,
      t: null,
      stream: 'stdout',
      text,
      marks: NONE,
      earlier: NONE,
      earlierCount: 0,
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
    expect(rowsOf('\t123', 10)).toBe(2);
    expect(rowsOf('\u4e2d', 10)).toBe(1);
    expect(rowsOf('\u4e2d'.repeat(20), 10)).toBe(5);
    expect(rowsOf('\u2714'.repeat(5), 10)).toBe(1);
    const heights = heightsOf(lines(10, '0123456789a'), 10);
    expect(heights.topOf(3)).toBe(6 * ROW_PX);
    expect(heights.lineAt(6 * ROW_PX)).toBe(3);
    expect(heights.lineAt(8 * ROW_PX - 1)).toBe(3);
    expect(heights.lineAt(-5)).toBe(0);
    expect(heights.lineAt(1e9)).toBe(9);
  });
  it('the window makes room for the earlier states of an opened line', () => {
    const log = lines(3);
    Object.assign(log[1]!, { earlier: ['10%', '20%'], earlierCount: 5 });
    expect(heightsOf(log, 0).topOf(2)).toBe(2 * ROW_PX);
    expect(heightsOf(log, 0, new Set([log[1]!])).topOf(2)).toBe(5 * ROW_PX);
    expect(heightsOf(log, 10).topOf(2)).toBe(4 * ROW_PX);
    expect(heightsOf(log, 10, new Set([log[1]!])).topOf(2)).toBe(7 * ROW_PX);
  });
});

describe('the row of a line', () => {
  const row = (log: LogText, opened: boolean, onOpen: (line: LogLine) => void = () => {}) => (
    <LogRow
      line={log.lines[0]!}
      index={0}
      top={0}
      wrap={false}
      times={false}
      tone=""
      onLink={() => {}}
      onCopy={() => {}}
      opened={opened}
      onOpen={onOpen}
    />
  );
  const bar = (states: number) => {
    const log = new LogText();
    const line = Array.from({ length: states + 1 }, (_, i) => `\u001b[31m${i}%`).join('\r');
    log.add({ seq: 1, t: null, stream: 'stdout', line });
    return log;
  };
  it('the row shows the last state of a progress bar, and the earlier ones on demand', () => {
    const log = bar(2);
    const asked: LogLine[] = [];
    const { container, rerender } = render(row(log, false, (line) => asked.push(line)));
    const shown = () => container.querySelector('[data-stream]')!.textContent;
    expect(shown()).toBe('2%2 earlier states');
    expect(container.querySelector('.ansi-1')!.textContent).toBe('2%');
    const button = screen.getByRole('button', { name: '2 earlier states', expanded: false });
    fireEvent.click(button);
    expect(asked).toEqual([log.lines[0]]);
    rerender(row(log, true));
    expect(button.getAttribute('aria-expanded')).toBe('true');
    expect(shown()).toBe('2%2 earlier states0%1%');
  });
  it('the row says how many states are only in the download', () => {
    render(row(bar(150), true));
    expect(screen.getByText('50 older states are only in the download.')).toBeTruthy();
    expect(screen.getByText('149%')).toBeTruthy();
    expect(screen.queryByText('49%')).toBeNull();
  });
});

it('an unknown state is shown as it came', () => {
  render(<StateBadge state="HIBERNATING" />);
  expect(screen.getByText('HIBERNATING')).toBeTruthy();
});

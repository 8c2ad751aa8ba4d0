// Computes which lines of a log are visible. A line takes one row, or, if lines wrap, as many rows as it
// needs. The font is monospaced, so only the width of one character is measured. A library for rows of any
// height would take 6 % of the page's size limit.
import type { LogLine } from './log_lines';

export const ROW_PX = 18;
const BEYOND_PX = 20 * ROW_PX; // px above and below the visible part, in which lines are rendered too

const TAB = ' '.repeat(8); // the most columns that a tab takes
const OTHER = /[^\x20-\x7e]/g;
const NOTE_COLUMNS = 20; // of the button at the end of a line with earlier states

// Returns the number of rows of a text. `columns` is the number of characters in a row. 0 means that lines do
// not wrap. A character that is not ASCII may take two columns, and may leave one empty at the end of a row.
export function rowsOf(text: string, columns: number): number {
  if (columns === 0) return 1;
  const bare = text.replaceAll('\t', TAB);
  const others = bare.match(OTHER)?.length ?? 0;
  const most = bare.length + others;
  return most <= columns ? 1 : Math.ceil(most / (others > 0 ? columns - 1 : columns));
}

// The earlier states of a line that can be shown. One more row says how many were dropped.
export const statesOf = ({ earlier, earlierCount }: LogLine) => ({
  states: earlier,
  dropped: earlierCount - earlier.length,
});

function rowsOfLine(line: LogLine, columns: number, opened: ReadonlySet<LogLine>): number {
  const own = rowsOf(line.text + (line.earlierCount > 0 ? ' '.repeat(NOTE_COLUMNS) : ''), columns);
  if (!opened.has(line)) return own;
  const { states, dropped } = statesOf(line);
  return states.reduce((sum, state) => sum + rowsOf(state, columns), own + (dropped > 0 ? 1 : 0));
}

export interface Heights {
  count: number; // lines when this was computed; the log may have more lines now
  total: number; // pixels
  topOf: (line: number) => number;
  lineAt: (y: number) => number;
}

// `opened`: lines that are shown with their earlier states.
export function heightsOf(
  lines: readonly LogLine[],
  columns: number,
  opened: ReadonlySet<LogLine> = new Set(),
): Heights {
  const count = lines.length;
  if (columns === 0 && opened.size === 0) {
    return {
      count,
      total: count * ROW_PX,
      topOf: (line) => line * ROW_PX,
      lineAt: (y) => Math.min(count - 1, Math.max(0, Math.floor(y / ROW_PX))),
    };
  }
  const tops = new Float64Array(count + 1);
  for (let i = 0; i < count; i++) tops[i + 1] = tops[i]! + rowsOfLine(lines[i]!, columns, opened) * ROW_PX;
  return {
    count,
    total: tops[count]!,
    topOf: (line) => tops[line]!,
    lineAt: (y) => {
      let low = 0;
      let high = Math.max(0, count - 1);
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if (tops[middle]! <= y) low = middle;
        else high = middle - 1;
      }
      return low;
    },
  };
}

export function visibleLines(heights: Heights, top: number, height: number): number[] {
  if (heights.count === 0) return [];
  const first = heights.lineAt(top - BEYOND_PX);
  const last = heights.lineAt(top + height + BEYOND_PX);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

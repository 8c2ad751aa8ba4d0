// Splits a line of a log into parts by its ANSI colours. The library Anser only splits the text. It does not
// make HTML.
import Anser from 'anser';
import type { LogLine } from './log_lines';

export interface Part {
  text: string;
  style: string;
}

const ESCAPE = String.fromCharCode(27);
// Escape sequences other than colours, such as cursor movements and titles. They are removed. A match ends
// before the next escape character. Otherwise each unterminated sequence would scan the whole line after it.
const OTHER_ESCAPES = new RegExp(ESCAPE + '(?:\\[[0-9;?]*[A-LN-Za-ln-z]|\\][^\\u0007\\u001b]*\\u0007)', 'g');

const COLOURS: Record<string, number> = {
  black: 0,
  red: 1,
  green: 2,
  yellow: 3,
  blue: 4,
  magenta: 5,
  cyan: 6,
  white: 7,
};

// Splits a line into parts, each of one colour. `colours` are the colours in force at the beginning of
// the line.
export function partsOf(line: string, colours = ''): Part[] {
  const clean = colours + line.replace(/\r/g, '').replace(OTHER_ESCAPES, '');
  return Anser.ansiToJson(clean, { use_classes: true, remove_empty: true }).map((entry) => {
    const colour = COLOURS[(entry.fg ?? '').replace('ansi-', '').replace('bright-', '')];
    const style = [
      colour === undefined ? '' : 'ansi-' + colour,
      entry.decorations.includes('bold') ? 'font-bold' : '',
      entry.decorations.includes('underline') ? 'underline' : '',
      entry.decorations.includes('italic') ? 'italic' : '',
    ]
      .filter(Boolean)
      .join(' ');
    return { text: entry.content, style };
  });
}

// Returns the text of a line without escape sequences, for copying.
export const plainOf = (line: LogLine) =>
  partsOf(line.text)
    .map((part) => part.text)
    .join('');

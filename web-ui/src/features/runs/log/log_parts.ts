// Splits a line of a log into parts by its ANSI colours. Text stays text: anser only splits it.
import Anser from 'anser';
import type { LogLine } from './log_lines';

export interface Part {
  text: string;
  style: string;
}

const ESCAPE = String.fromCharCode(27);
// Escapes that are no colours (moving the cursor, titles) say nothing in a text. None reaches beyond
// the next escape: the whole line would be looked through again for each one that has no end.
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

// A line in its colours.
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

// As a person would type it.
export const plainOf = (line: LogLine) =>
  partsOf(line.text)
    .map((part) => part.text)
    .join('');

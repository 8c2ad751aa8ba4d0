// Splits a line of a log into parts of one style each. Pure.
import type { LogLine } from './log_lines';

export interface Part {
  text: string;
  style: string; // classes of the style sheet
}

export function partsOf({ text, marks }: Pick<LogLine, 'text' | 'marks'>): Part[] {
  const begun = [{ at: 0, style: '' }, ...marks];
  return begun
    .map(({ at, style }, i) => ({ text: text.slice(at, begun[i + 1]?.at), style }))
    .filter((part) => part.text !== '');
}

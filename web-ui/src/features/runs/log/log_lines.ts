// Makes the lines of a log from the log entries, as they arrive.
//
// Each line has the colours that are in force at its beginning, so that it can be shown alone. Each line has
// a level: its own, or else the level of the line before it on the same stream.
import { levelOf, type Level } from './log_levels';

export interface LogEntry {
  seq: number;
  t: string | null;
  stream: string;
  line: string;
  partial?: boolean;
}
export interface LogLine {
  seq: number;
  t: string | null;
  stream: string;
  text: string;
  colours: string;
  open: boolean;
  level: Level | null;
}
export interface LogEnd {
  run_id: string;
  attempt: number;
  state: string;
  complete: boolean;
}

const ESCAPE = String.fromCharCode(27);
const COLOURS = new RegExp(ESCAPE + '\\[([0-9;]*)m', 'g');
const COLOURS_MAX = 200; // characters; if a stream sets more without a reset, its colours are dropped

// Returns the colours in force after `text`. `before` are the colours in force before it.
export function coloursAfter(before: string, text: string): string {
  let now = before;
  for (const [whole, codes] of text.matchAll(COLOURS)) {
    now = codes === '' || /^0+$/.test(codes!) ? '' : now + whole;
  }
  return now.length > COLOURS_MAX ? '' : now;
}

export class LogText {
  readonly lines: LogLine[] = [];
  lastSeq = 0;
  private readonly colours = new Map<string, string>(); // colours in force at the end of each stream
  private readonly levels = new Map<string, Level | null>(); // level of the last line of each stream
  private readonly open = new Map<string, LogLine>(); // the line of each stream whose end has not arrived

  add(entry: LogEntry): void {
    if (entry.seq <= this.lastSeq) return;
    this.lastSeq = entry.seq;
    const before = this.colours.get(entry.stream) ?? '';
    const begun = this.open.get(entry.stream);
    if (begun) {
      begun.text += entry.line;
      begun.open = entry.partial === true;
    }
    const line = begun ?? {
      seq: entry.seq,
      t: entry.t,
      stream: entry.stream,
      text: entry.line,
      colours: before,
      open: entry.partial === true,
      level: null,
    };
    line.level = levelOf(line.text) ?? this.levels.get(entry.stream) ?? null;
    if (!begun) this.lines.push(line);
    if (entry.partial) this.open.set(entry.stream, line);
    else {
      this.open.delete(entry.stream);
      this.levels.set(entry.stream, line.level);
    }
    this.colours.set(entry.stream, coloursAfter(before, entry.line));
  }
}

// Makes the lines of a log from the entries as they arrive.
//
// A line contains the colours that are in force at its beginning, so that it can be shown alone,
// and its level, or else that of the line before it on its stream.
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
const COLOURS_MAX = 200; // characters; a stream that sets more without a reset gets no colours

// Returns the colours in force after `text`, given those before it.
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
  private readonly colours = new Map<string, string>(); // by stream
  private readonly levels = new Map<string, Level | null>(); // level of the last line, by stream
  private readonly open = new Map<string, LogLine>(); // lines whose end has not arrived, by stream

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

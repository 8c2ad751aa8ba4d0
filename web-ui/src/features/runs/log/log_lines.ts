// Makes the lines of a log from the log entries, as they arrive.
//
// Each stream has a terminal of its own. Each line has a level: its own, or else the level of the line before
// it on the same stream.
import { levelOf, type Level } from './log_levels';
import { Terminal } from './terminal/terminal';
import { NONE, type ShownText } from './terminal/terminal_row';

export interface LogEntry {
  seq: number;
  t: string | null;
  stream: string;
  line: string;
  partial?: boolean;
}
export interface LogLine extends ShownText {
  seq: number; // of the entry with which the line began
  t: string | null;
  stream: string;
  level: Level | null;
}
export interface LogEnd {
  run_id: string;
  attempt: number;
  state: string;
  complete: boolean;
}

const EARLIER_CHARACTERS = 4_000_000; // of all lines of a log

export class LogText {
  readonly lines: LogLine[] = [];
  lastSeq = 0;
  private readonly terminals = new Map<string, Terminal<LogLine>>();
  private readonly room = { left: EARLIER_CHARACTERS };
  private entry: LogEntry = { seq: 0, t: null, stream: '', line: '' }; // the entry that is added now

  add(entry: LogEntry): void {
    if (entry.seq <= this.lastSeq) return;
    this.lastSeq = entry.seq;
    this.entry = entry;
    let terminal = this.terminals.get(entry.stream);
    if (!terminal) {
      terminal = new Terminal<LogLine>(() => this.begin(), setLevel, this.room);
      this.terminals.set(entry.stream, terminal);
    }
    terminal.write(entry.line, entry.partial !== true);
  }

  private begin(): LogLine {
    const { seq, t, stream } = this.entry;
    const line: LogLine = {
      seq,
      t,
      stream,
      text: '',
      marks: NONE,
      earlier: NONE,
      earlierCount: 0,
      level: null,
    };
    this.lines.push(line);
    return line;
  }
}

function setLevel(line: LogLine, before: LogLine | undefined): void {
  line.level = levelOf(line.text) ?? before?.level ?? null;
}

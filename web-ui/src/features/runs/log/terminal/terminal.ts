// Terminal of one stream of a log: understands the output of a program as a terminal does, so far as a log can.
//
// A log has no screen. It has all lines, its width is not limited, and a line is never removed. The cursor
// can go back to the last lines of the stream: progress bars of many lines overwrite each other there. A place
// on the screen (row 24) is the line that was begun there, until the screen is cleared: what follows that
// begins new lines, so that nothing that was written before is lost.
import { EscapeSequences, hasControls } from './escape_sequences';
import { TerminalRow, type Room, type ShownText } from './terminal_row';
import { PLAIN, styleAfter, type TextStyle } from './text_style';

const BACK_MAX = 200; // lines of the stream to which the cursor can go back
const COLUMN_MAX = 250; // a program that moves the cursor further to the right looks for the edge of the screen
const END = -1; // the column after the last character, which is only computed when it is needed
// Characters of the line-drawing set, from ` to ~.
const DRAWING = '◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·';

interface Place {
  line: number; // counted from the beginning of the stream
  column: number;
  isNew: boolean; // the line had not begun
  style: TextStyle;
}

export class Terminal<Line extends ShownText> {
  private readonly rows: TerminalRow[] = []; // the last lines, of which the oldest is `first`
  private first = 0;
  private at = 0; // index of the cursor's line in `rows`; `rows.length`: it begins with the next text
  private column = END;
  private style = PLAIN;
  private saved: Place | null = null;
  private readonly screen = new Map<number, number>(); // lines by rows of the screen
  private screenRow: number | null = null; // the line that begins next is this row of the screen
  private top = 0; // the cursor does not go back beyond this line
  private readonly drawing: [boolean, boolean] = [false, false]; // G0 and G1 are the line-drawing set
  private shifted: 0 | 1 = 0;
  private last = ''; // the character printed last
  private readonly changed = new Set<TerminalRow>();
  private readonly sequences: EscapeSequences;

  // `begin` begins a line at the end of the log. `update` is called for each line that has changed, with the
  // line before it on this terminal.
  constructor(
    private readonly begin: () => Line,
    private readonly update: (line: Line, before: Line | undefined) => void,
    private readonly room: Room,
  ) {
    this.sequences = new EscapeSequences({
      text: (text) => this.print(text),
      control: (character) => this.control(character),
      control1: (final) => this.control1(final),
      charset: (place, set) => {
        if (place === '(' || place === ')') this.drawing[place === '(' ? 0 : 1] = set === '0';
      },
      sequence: (parameters, final) => this.sequence(parameters, final),
    });
  }

  // Takes the next part of the output. `ends`: the line ends after it.
  write(text: string, ends: boolean): void {
    if (this.sequences.waits || hasControls(text)) this.sequences.write(text);
    else if (text !== '') this.print(text);
    if (ends) {
      this.sequences.endLine();
      this.drawing.fill(false);
      this.shifted = 0;
      this.row();
      this.goTo(this.at + 1, 0);
    }
    for (const row of this.changed) {
      row.settle();
      const before = this.rows[this.rows.lastIndexOf(row) - 1];
      this.update(row.shown as Line, before?.shown as Line | undefined);
    }
    this.changed.clear();
  }

  // The cursor's line, which begins if it has not begun.
  private row(): TerminalRow {
    if (this.at === this.rows.length) {
      this.rows.push(new TerminalRow(this.begin(), this.room));
      if (this.screenRow !== null) this.screen.set(this.screenRow, this.first + this.at);
      if (this.rows.length > 2 * BACK_MAX) {
        this.rows.splice(0, BACK_MAX);
        this.first += BACK_MAX;
        this.at -= BACK_MAX;
      }
    }
    this.screenRow = null;
    const row = this.rows[this.at]!;
    this.changed.add(row);
    return row;
  }

  private print(plain: string): void {
    if (plain === '') return;
    const row = this.row();
    this.last = plain.slice(-1);
    const text = this.drawing[this.shifted]
      ? plain.replace(/[`-~]/g, (letter) => DRAWING[letter.charCodeAt(0) - 96]!)
      : plain;
    if (this.column === END) row.append(text, this.style.classes);
    else this.column = row.put(this.column, text, this.style.classes);
  }

  private now(): number {
    return this.column === END ? (this.rows[this.at]?.width ?? 0) : this.column;
  }

  private goTo(line: number, column: number): void {
    if (line !== this.at) this.screenRow = null;
    if (line === this.rows.length && column === 0) {
      this.at = line;
      this.column = END;
      return;
    }
    const floor = Math.max(0, this.top - this.first, this.rows.length - BACK_MAX);
    this.at = Math.min(Math.max(line, floor), this.rows.length);
    const row = this.rows[this.at];
    row?.move();
    const most = column > COLUMN_MAX ? Math.max(COLUMN_MAX, row?.width ?? 0) : COLUMN_MAX;
    this.column = Math.min(Math.max(0, column), most);
    if (!row && this.column === 0) this.column = END;
  }

  private toScreenRow(row: number, column: number): void {
    const line = (this.screen.get(row) ?? -1) - this.first;
    const known = line >= Math.max(0, this.rows.length - BACK_MAX);
    this.goTo(known ? line : this.rows.length, column);
    if (!known) this.screenRow = row;
  }

  private clearScreen(): void {
    this.screen.clear();
    this.top = this.first + this.rows.length;
    this.goTo(this.rows.length, 0);
  }

  private save(): void {
    const isNew = this.at === this.rows.length;
    this.saved = { line: this.first + this.at, column: this.now(), isNew, style: this.style };
  }

  private restore(): void {
    if (!this.saved) return;
    const { line, column, isNew, style } = this.saved;
    this.goTo(isNew ? this.rows.length : line - this.first, column);
    this.style = style;
  }

  private control(character: string): void {
    if (character === '\r') this.goTo(this.at, 0);
    else if (character === '\b') this.goTo(this.at, this.now() - 1);
    else if (character === '\v' || character === '\f' || character === '\n')
      this.goTo(this.at + 1, this.now());
    else if (character === '\u000e') this.shifted = 1;
    else if (character === '\u000f') this.shifted = 0;
  }

  private control1(final: string): void {
    if (final === '7') this.save();
    else if (final === '8') this.restore();
    else if (final === 'D') this.goTo(this.at + 1, this.now());
    else if (final === 'E') this.goTo(this.at + 1, 0);
    else if (final === 'M') this.goTo(this.at - 1, this.now());
    else if (final === 'c') {
      this.style = PLAIN;
      this.clearScreen();
    }
  }

  private sequence(parameters: string, final: string): void {
    if (/^[<=>?]/.test(parameters)) {
      // The program changes to the other screen, or back.
      if (/^\?(?:.*;)?(?:47|1047|1049)(?:;|$)/.test(parameters) && (final === 'h' || final === 'l'))
        this.clearScreen();
      return;
    }
    if (final === 'm') {
      this.style = styleAfter(this.style, parameters);
      return;
    }
    const [first = 0, second = 0] = parameters.split(';').map((one) => Number.parseInt(one, 10) || 0);
    this.edit(final, first, second);
  }

  private edit(final: string, first: number, second: number): void {
    const count = Math.min(Math.max(1, first), COLUMN_MAX);
    switch (final) {
      case 'A':
        return this.goTo(this.at - count, this.now());
      case 'B':
      case 'e':
        return this.goTo(this.at + count, this.now());
      case 'C':
      case 'a':
        return this.goTo(this.at, this.now() + count);
      case 'D':
        return this.goTo(this.at, this.now() - count);
      case 'E':
        return this.goTo(this.at + count, 0);
      case 'F':
        return this.goTo(this.at - count, 0);
      case 'G':
      case '`':
        return this.goTo(this.at, first - 1);
      case 'H':
      case 'f':
        return this.toScreenRow(Math.max(1, first), second - 1);
      case 'd':
        return this.toScreenRow(Math.max(1, first), this.now());
      case 'J':
        return first >= 2 ? this.clearScreen() : this.eraseScreen(first);
      case 'K':
        return this.eraseLine(first);
      case 'X':
        return this.change((row) => row.erase(this.now(), this.now() + count, false));
      case 'P':
        return this.change((row) => row.remove(this.now(), count));
      case '@':
        return this.change((row) => row.insert(this.now(), count));
      case 'b':
        return this.print(this.last.repeat(count));
      case 's':
        return this.save();
      case 'u':
        return this.restore();
    }
  }

  private eraseScreen(mode: number): void {
    this.eraseLine(mode);
    if (mode !== 0) return;
    for (const row of this.rows.slice(this.at + 1)) {
      row.erase(0, Infinity, true);
      this.changed.add(row);
    }
  }

  private eraseLine(mode: number): void {
    if (mode === 0 && this.column === END) return;
    this.column = this.now();
    if (mode === 0) this.change((row) => row.erase(this.column, Infinity, false));
    else if (mode === 1) this.change((row) => row.erase(0, this.column + 1, true));
    else if (mode === 2) this.change((row) => row.erase(0, Infinity, true));
  }

  // Changes the cursor's line, if it has begun.
  private change(act: (row: TerminalRow) => void): void {
    const row = this.rows[this.at];
    if (!row) return;
    act(row);
    this.changed.add(row);
  }
}

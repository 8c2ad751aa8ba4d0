// One line of a terminal: text with styles, to which a program appends, and of which it may overwrite or erase
// parts. The line keeps the states that it had before.
//
// Appending, which is by far the most frequent, only makes strings longer. The line is split into columns when
// it is changed elsewhere.
export interface Mark {
  at: number; // place in the text at which the style begins
  style: string;
}

// A line as it is shown.
export interface ShownText {
  text: string;
  marks: Mark[]; // empty: the whole text is plain
  earlier: string[]; // earlier states, oldest first; of very many, the last ones
  earlierCount: number; // all earlier states
}
export const NONE: never[] = []; // never changed; most lines of a log have no marks and no earlier states

// Characters of earlier states that a log keeps. Beyond that they are only counted.
export interface Room {
  left: number;
}

interface Cell {
  text: string; // one character with the marks that combine with it; '': continues the column before it
  style: string;
}

const EARLIER_MAX = 100;
const LONG = 4000; // characters of a line; a longer line is only appended to
const SHORT = 200; // characters; a longer text at the end of a line is not split into columns
const TAB_STOP = 8;
const BLANK: Cell = { text: ' ', style: '' };

const COMBINES = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}])$/u;

// The columns that a character takes.
export function columnsOf(character: string): number {
  if (character < '\u0300') return 1;
  return COMBINES.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
}

function clear(cells: Cell[], from: number, to: number): void {
  for (let at = from; at < to; at += 1) cells[at] = BLANK;
}

const nextStop = (column: number) => (Math.floor(column / TAB_STOP) + 1) * TAB_STOP;

export class TerminalRow {
  private cells: Cell[] | null = null;
  private changed = false; // the cells are newer than `shown`
  private fresh = false; // something was printed after the last state that was kept
  private moved = false; // the cursor has moved since then
  private kept = false; // a state was kept after the last move

  constructor(
    readonly shown: ShownText,
    private readonly room: Room,
  ) {}

  // Columns that are in use.
  get width(): number {
    return this.isLong() ? this.shown.text.length : this.split().length;
  }

  // The cursor has been moved to a place in this line. What it prints now may begin a new state.
  move(): void {
    this.moved = true;
    this.kept = false;
  }

  append(text: string, style: string): void {
    if (this.cells !== null && text.length < SHORT && !this.isLong())
      this.put(this.cells.length, text, style);
    else this.join(text, style);
  }

  private join(text: string, style: string): void {
    if (this.changed) this.settle();
    this.cells = null;
    const { shown } = this;
    const last = shown.marks.length > 0 ? shown.marks[shown.marks.length - 1]!.style : '';
    if (last !== style) {
      if (shown.marks === NONE) shown.marks = [];
      shown.marks.push({ at: shown.text.length, style });
    }
    shown.text += text;
    this.fresh = true;
  }

  // Prints at a column. Returns the column after it.
  put(column: number, text: string, style: string): number {
    let at = column;
    let done = 0;
    for (const character of this.isLong() ? '' : text) {
      const cells = this.split();
      if (at >= cells.length && text.length - done >= SHORT) break;
      this.changed = true;
      at = this.putOne(cells, at, character, style);
      done += character.length;
    }
    if (done < text.length) {
      this.join(' '.repeat(Math.max(0, at - this.width)) + text.slice(done), style);
      return this.width;
    }
    this.fresh ||= text.trim() !== '';
    return at;
  }

  // Erases columns. `whole`: what has been printed since the last move is erased, too.
  erase(from: number, to: number, whole: boolean): void {
    if (this.isLong()) return;
    const cells = this.split();
    const end = Math.min(to, cells.length);
    if (from >= end) return;
    if (whole || !this.kept) this.keep(cells);
    this.changed = true;
    this.cut(cells, from);
    this.cut(cells, end);
    if (end === cells.length) cells.length = from;
    else clear(cells, from, end);
  }

  // Removes columns; the rest of the line moves left.
  remove(from: number, count: number): void {
    if (this.isLong()) return;
    const cells = this.split();
    if (from >= cells.length) return;
    if (!this.kept) this.keep(cells);
    this.changed = true;
    this.cut(cells, from);
    this.cut(cells, Math.min(from + count, cells.length));
    cells.splice(from, count);
  }

  // Inserts blanks; the rest of the line moves right.
  insert(at: number, count: number): void {
    if (this.isLong()) return;
    const cells = this.split();
    if (at >= cells.length) return;
    this.changed = true;
    this.cut(cells, at);
    cells.splice(at, 0, ...Array.from({ length: count }, () => BLANK));
  }

  // Brings `shown` up to date.
  settle(): void {
    const { shown } = this;
    if (this.changed) {
      this.changed = false;
      shown.text = '';
      shown.marks = [];
      let style = '';
      for (const cell of this.cells!) {
        if (cell.text !== '' && cell.style !== style) {
          style = cell.style;
          shown.marks.push({ at: shown.text.length, style });
        }
        shown.text += cell.text;
      }
    }
    // A state that was printed once more is no earlier one.
    if (shown.earlier.length > 0 && shown.earlier[shown.earlier.length - 1] === shown.text.trimEnd()) {
      shown.earlierCount -= 1;
      this.room.left += shown.earlier.pop()!.length;
    }
  }

  private isLong(): boolean {
    return this.cells === null ? this.shown.text.length > LONG : this.cells.length > LONG;
  }

  private putOne(cells: Cell[], column: number, character: string, style: string): number {
    const columns = columnsOf(character);
    if (columns === 0) {
      let to = Math.min(column, cells.length) - 1;
      while (to > 0 && cells[to]!.text === '') to -= 1;
      if (to >= 0) cells[to] = { ...cells[to]!, text: cells[to]!.text + character };
      return column;
    }
    if (character === '\t') {
      while (cells.length < nextStop(column)) cells.push(BLANK);
      return nextStop(column);
    }
    while (cells.length < column) cells.push(BLANK);
    const before = cells[column];
    if (before && before.text !== character && this.moved) this.keep(cells);
    this.cut(cells, column);
    this.cut(cells, column + columns);
    cells[column] = { text: character, style };
    if (columns === 2) cells[column + 1] = { text: '', style };
    return column + columns;
  }

  // Replaces a character that lies on both sides of a column by blanks.
  private cut(cells: Cell[], column: number): void {
    if (cells[column]?.text !== '') return;
    let from = column;
    while (from > 0 && cells[from]!.text === '') from -= 1;
    let to = column;
    while (cells[to]?.text === '') to += 1;
    clear(cells, from, to);
  }

  // Keeps the state of the line, because it will be changed now.
  private keep(cells: Cell[]): void {
    this.moved = false;
    this.kept = true;
    if (!this.fresh) return;
    this.fresh = false;
    if (this.shown.earlier === NONE) this.shown.earlier = [];
    const { earlier } = this.shown;
    const state = cells
      .map((cell) => cell.text)
      .join('')
      .trimEnd();
    if (state === '' || state === earlier[earlier.length - 1]) return;
    this.shown.earlierCount += 1;
    if (earlier.length === EARLIER_MAX) this.room.left += earlier.shift()!.length;
    if (state.length > this.room.left) return;
    this.room.left -= state.length;
    earlier.push(state);
  }

  private split(): Cell[] {
    if (this.cells) return this.cells;
    const cells: Cell[] = [];
    const { text, marks } = this.shown;
    let style = '';
    let mark = 0;
    let at = 0;
    for (const character of text) {
      if (mark < marks.length && marks[mark]!.at <= at) {
        style = marks[mark]!.style;
        mark += 1;
      }
      at += character.length;
      const columns = character === '\t' ? nextStop(cells.length) - cells.length : columnsOf(character);
      const last = cells.length - 1;
      if (columns > 0) cells.push({ text: character, style });
      else if (last >= 0) {
        let to = last;
        while (to > 0 && cells[to]!.text === '') to -= 1;
        cells[to] = { ...cells[to]!, text: cells[to]!.text + character };
      }
      for (let i = 1; i < columns; i += 1) cells.push({ text: '', style });
    }
    this.cells = cells;
    return cells;
  }
}

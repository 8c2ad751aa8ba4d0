// Keeps the statements about the two tables of an XXL-JOB dump that an import reads, also by their names
// before version 2.1. A dump of the whole database has hundreds of megabytes of logs beside them. Pure.
const WANTED =
  /^(?:\s+|--[^\n]*\n|#[^\n]*\n|\/\*[\s\S]*?\*\/;?)*(?:CREATE\s+TABLE|INSERT|REPLACE)\s[^('"]*?\bxxl_job_(?:qrtz_trigger_)?(?:info|group)\b/i;
const HEAD = 4000; // characters after which it is decided whether a statement is kept
const [QUOTE, DOUBLE, TICK, BACKSLASH, END, DASH, SLASH, STAR, HASH, LINE] = [...'\'"`\\;-/*#\n'].map((one) =>
  one.charCodeAt(0),
);

type Place = 'code' | 'line comment' | 'comment' | number; // a number: in quotes of this kind

export class DumpFilter {
  private place: Place = 'code';
  private escaped = false;
  private last = 0; // the character before, across pieces of the text
  private wanted: boolean | undefined;
  private size = 0;
  private statement: string[] = [];
  private kept: string[] = [];

  push(text: string): void {
    let from = 0;
    for (let i = 0; i < text.length; i++) {
      if (this.endsAt(text.charCodeAt(i))) {
        this.take(text.slice(from, i + 1));
        this.finish();
        from = i + 1;
      }
    }
    this.take(text.slice(from));
  }

  // The kept statements. The last one may lack its end.
  end(): string {
    this.finish();
    return this.kept.join('');
  }

  private endsAt(at: number): boolean {
    const before = this.last;
    this.last = at;
    if (typeof this.place === 'number') {
      if (this.escaped) this.escaped = false;
      else if (at === BACKSLASH && this.place !== TICK) this.escaped = true;
      else if (at === this.place) this.place = 'code';
      return false;
    }
    if (this.place === 'line comment') {
      if (at === LINE) this.place = 'code';
    } else if (this.place === 'comment') {
      if (before === STAR && at === SLASH) this.place = 'code';
    } else if (at === QUOTE || at === DOUBLE || at === TICK) this.place = at;
    else if (at === HASH || (at === DASH && before === DASH)) this.place = 'line comment';
    else if (at === STAR && before === SLASH) {
      this.place = 'comment';
      this.last = 0; // "/*/" does not end the comment that it begins
    } else return at === END;
    return false;
  }

  private take(part: string): void {
    if (this.wanted === false || part === '') return;
    this.statement.push(part);
    this.size += part.length;
    if (this.wanted === undefined && this.size >= HEAD) this.decide();
  }

  private decide(): void {
    this.wanted = WANTED.test(this.statement.join('').slice(0, HEAD));
    if (!this.wanted) this.statement = [];
  }

  private finish(): void {
    if (this.wanted === undefined) this.decide();
    if (this.wanted) this.kept.push(this.statement.join(''));
    this.wanted = undefined;
    this.statement = [];
    this.size = 0;
  }
}

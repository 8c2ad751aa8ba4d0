// Splits the output of a program into text, control characters and the escape sequences of ECMA-48. The output
// may be cut anywhere; a sequence that is cut goes on in the next part.
//
// A sequence takes one pass, whether it is complete or not. A sequence that the end of the line interrupts is
// dropped; but the content of an unfinished control string (a title, a link) is text then, because a stray
// character at its beginning must not hide the line.
export interface Receiver {
  text: (text: string) => void;
  control: (character: string) => void; // \b, \r …
  control1: (final: string) => void; // ESC and this character
  charset: (place: string, set: string) => void; // ESC ( 0
  sequence: (parameters: string, final: string) => void; // CSI, without intermediate characters
}

const HELD_MAX = 1000; // characters of an incomplete sequence that wait for the rest

// The pattern of a control character is made of strings, because the characters themselves are invisible.
const pattern = (text: string, flags: string) => new RegExp(text, flags);
const CSI = '(?:\\u001b\\[|\\u009b)';
const CONTROL = pattern('[\\u0000-\\u0008\\u000a-\\u001f\\u007f-\\u009f]', 'g');
const SEQUENCE = pattern(CSI + '([0-?]*)([ -/]*)([@-~])', 'y');
const SHORT = pattern('\\u001b([ -/]*)([0-~])', 'y');
// The beginning of a sequence, up to its end or to the first character that cannot be in it.
const BEGUN = pattern(CSI + '[0-?]*[ -/]*|\\u001b[ -/]*', 'y');
// APC, DCS, OSC, PM, SOS and the title of GNU screen begin a control string.
const STRINGS = 'PX]^_k';
const STRINGS_8BIT = '\u0090\u0098\u009d\u009e\u009f';
// BEL, ST, CAN and SUB end a control string. So does ESC, the first half of ST in seven bits.
const STRING_END = pattern('[\\u0007\\u0018\\u001a\\u001b\\u009c]', 'g');
const ESCAPE = '\u001b';

// True if the text has control characters other than tabs.
export const hasControls = (text: string): boolean => {
  CONTROL.lastIndex = 0;
  return CONTROL.test(text);
};

export class EscapeSequences {
  private held = ''; // the beginning of a sequence
  private string: string | null = null; // content of the control string that has begun

  constructor(private readonly to: Receiver) {}

  get waits(): boolean {
    return this.held !== '' || this.string !== null;
  }

  write(more: string): void {
    const all = this.held + more;
    this.held = '';
    for (let at = 0; at < all.length;) {
      if (this.string !== null) {
        at = this.inString(all, at);
        continue;
      }
      CONTROL.lastIndex = at;
      const control = CONTROL.exec(all)?.index ?? all.length;
      if (control > at) this.to.text(all.slice(at, control));
      at = control < all.length ? this.atControl(all, control) : control;
    }
  }

  // The line ends here.
  endLine(): void {
    this.held = '';
    const content = this.string;
    this.string = null;
    if (content) this.to.text(content.replace(CONTROL, ''));
  }

  private inString(all: string, from: number): number {
    STRING_END.lastIndex = from;
    const end = STRING_END.exec(all)?.index;
    if (end === undefined) {
      this.string += all.slice(from);
      return all.length;
    }
    this.string = null;
    return all[end] === ESCAPE ? end : end + 1;
  }

  // Handles the control character at `at`. Returns the place after it and its sequence.
  private atControl(all: string, at: number): number {
    const character = all[at]!;
    if (STRINGS_8BIT.includes(character)) {
      this.string = '';
      return at + 1;
    }
    if (character === ESCAPE || character === '\u009b') return this.atEscape(all, at);
    if (character >= '\u0080') this.to.control1(String.fromCharCode(character.charCodeAt(0) - 64));
    else this.to.control(character);
    return at + 1;
  }

  private atEscape(all: string, at: number): number {
    SEQUENCE.lastIndex = at;
    const sequence = SEQUENCE.exec(all);
    if (sequence) {
      if (sequence[2] === '') this.to.sequence(sequence[1]!, sequence[3]!);
      return SEQUENCE.lastIndex;
    }
    BEGUN.lastIndex = at;
    BEGUN.exec(all);
    const begun = BEGUN.lastIndex;
    if (begun === all.length) {
      if (begun - at <= HELD_MAX) this.held = all.slice(at);
      return begun;
    }
    SHORT.lastIndex = at;
    const short = all[at + 1] === '[' ? null : SHORT.exec(all);
    if (!short) return begun; // no character that may follow
    if (short[1] !== '') this.to.charset(short[1]!, short[2]!);
    else if (STRINGS.includes(short[2]!)) this.string = '';
    else this.to.control1(short[2]!);
    return SHORT.lastIndex;
  }
}

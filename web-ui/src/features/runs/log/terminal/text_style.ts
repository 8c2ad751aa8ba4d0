// Colours and decorations of a terminal's text (the escape sequence SGR), as classes of the style sheet. Pure.
//
// The 256 colours and the true colours become the nearest of the theme's eight colours, because only these are
// readable on the background of both themes.
export interface TextStyle {
  text: number | null; // one of the eight colours; null: the default colour
  back: number | null;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  strike: boolean;
  inverse: boolean;
  classes: string; // of the style sheet
}

export const PLAIN: TextStyle = {
  text: null,
  back: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  strike: false,
  inverse: false,
  classes: '',
};

const STRONG = 0; // the colour of black and of bright white, which is that of ordinary text
const GREY = 7; // the colour of white and of bright black
const GREY_BELOW = 40; // a smaller difference between the parts of a colour makes no hue
const HUES: [below: number, colour: number][] = [
  [20, 1],
  [75, 3],
  [160, 2],
  [200, 6],
  [260, 4],
  [330, 5],
  [360, 1],
];

// Returns the nearest of the eight colours. The parts are numbers from 0 to 255.
function ofParts(red: number, green: number, blue: number): number {
  const most = Math.max(red, green, blue);
  const spread = most - Math.min(red, green, blue);
  if (spread < GREY_BELOW) return most < 64 || most > 215 ? STRONG : GREY;
  const sector =
    most === red
      ? (green - blue) / spread
      : most === green
        ? 2 + (blue - red) / spread
        : 4 + (red - green) / spread;
  const hue = (sector * 60 + 360) % 360;
  return HUES.find(([below]) => hue < below)![1];
}

const ofBright = (colour: number): number => (colour === 0 ? GREY : colour === 7 ? STRONG : colour);

const level = (part: number): number => (part === 0 ? 0 : 55 + part * 40);

// Returns the nearest of the eight colours to a colour of the table of 256: 16 named colours, a cube of 216
// colours, 24 greys.
function ofTable(index: number): number {
  if (index < 8) return index;
  if (index < 16) return ofBright(index - 8);
  const cube = index - 16;
  if (index < 232)
    return ofParts(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
  const grey = 8 + (index - 232) * 10;
  return ofParts(grey, grey, grey);
}

// Reads the colour after code 38 or 48: `5, index` or `2, red, green, blue`. Returns it with the count of the
// codes that it takes. undefined: it is incomplete or of another form.
function extended(codes: number[]): [colour: number | undefined, taken: number] {
  if (codes[0] === 5) return [codes[1] === undefined || codes[1] > 255 ? undefined : ofTable(codes[1]), 2];
  if (codes[0] !== 2) return [undefined, 1];
  const parts = codes.slice(1, 4);
  return [
    parts.length < 3 || parts.some((part) => part > 255)
      ? undefined
      : ofParts(parts[0]!, parts[1]!, parts[2]!),
    4,
  ];
}

// Effects of the codes that do not name a colour.
const EFFECTS: Record<number, Partial<TextStyle>> = {
  0: PLAIN,
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { strike: true },
  21: { underline: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  29: { strike: false },
  39: { text: null },
  49: { back: null },
};

function simple(code: number): Partial<TextStyle> {
  if (code >= 30 && code <= 37) return { text: code - 30 };
  if (code >= 40 && code <= 47) return { back: code - 40 };
  if (code >= 90 && code <= 97) return { text: ofBright(code - 90) };
  if (code >= 100 && code <= 107) return { back: ofBright(code - 100) };
  return EFFECTS[code] ?? {};
}

// A program uses few styles, but each of them very often.
const KNOWN_MAX = 200; // sequences after one style; a further one is computed each time
const known = new WeakMap<TextStyle, Map<string, TextStyle>>();

// Returns the style after the sequence with these parameters, such as `1;31` or `38:2::255:0:0`. A colour may
// be written with colons, in one parameter, or with semicolons, in several.
export function styleAfter(before: TextStyle, parameters: string): TextStyle {
  if (parameters === '' || parameters === '0') return PLAIN;
  let after = known.get(before);
  if (!after) known.set(before, (after = new Map<string, TextStyle>()));
  let style = after.get(parameters);
  if (!style) {
    style = computed(before, parameters);
    if (after.size < KNOWN_MAX) after.set(parameters, style);
  }
  return style;
}

function computed(before: TextStyle, parameters: string): TextStyle {
  const all = parameters.split(';');
  const style = Object.assign({}, before);
  for (let i = 0; i < all.length; i += 1) {
    const [first, ...more] = all[i]!.split(':');
    const code = Number(first);
    if (code === 38 || code === 48 || code === 58) {
      const colons = more.length > 0;
      // The form with colons may name a colour space before the parts: 38:2:SPACE:red:green:blue.
      const codes = colons
        ? [...more.slice(0, 1), ...more.slice(more[0] === '2' && more.length > 4 ? 2 : 1)]
        : all.slice(i + 1, i + 5);
      const [colour, taken] = extended(codes.map(Number));
      if (!colons) i += taken;
      if (colour !== undefined && code === 38) style.text = colour;
      if (colour !== undefined && code === 48) style.back = colour;
    } else if (code === 4 && more[0] === '0') style.underline = false;
    else Object.assign(style, simple(code));
  }
  style.classes = classesOf(style);
  return style;
}

// Returns the classes of a style. Text on a coloured background has the colour of the page's background, which
// is readable on each of the eight colours. A black background is the default one.
function classesOf(style: TextStyle): string {
  const back = style.inverse ? (style.text ?? style.back ?? STRONG) : style.back || null;
  const classes = [];
  if (back !== null) classes.push('ansi-on-' + back);
  else if (style.text !== null) classes.push('ansi-' + style.text);
  else if (style.dim) classes.push('ansi-' + GREY);
  if (style.bold) classes.push('font-bold');
  if (style.italic) classes.push('italic');
  if (style.underline) classes.push('underline');
  if (style.strike) classes.push('line-through');
  return classes.join(' ');
}

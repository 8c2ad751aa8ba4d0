// Tells what is being typed at a place of a YAML text, which need not be complete: the keys around it, and whether a
// key or a value is expected. Pure.

export interface Spot {
  path: string[]; // from the outermost key; "-" is an item of a list
  wants: 'key' | 'value' | 'either'; // either: a word alone in its line
  from: number; // where the word begins
  word: string;
  siblings: string[]; // keys that the same object already has before this place
}

interface Entry {
  column: number;
  name: string; // of a key, or "-"
}

const LINES_BACK = 2000; // a key whose parent is further away is suggested nothing
const KEY = /^(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_.-]+))\s*:(?=\s|$)/;

// Splits the beginning of a line into its dashes and its key; `rest` begins behind them.
function entriesOf(line: string): { entries: Entry[]; rest: number } {
  const entries: Entry[] = [];
  let at = /^ */.exec(line)![0].length;
  while (line[at] === '-' && (line[at + 1] === ' ' || line[at + 1] === undefined)) {
    entries.push({ column: at, name: '-' });
    at += 1;
    while (line[at] === ' ') at += 1;
  }
  const key = KEY.exec(line.slice(at));
  if (key) {
    entries.push({ column: at, name: key[1] ?? key[2] ?? key[3] ?? '' });
    at += key[0].length;
    while (line[at] === ' ') at += 1;
  }
  return { entries, rest: at };
}

// The path within the brackets of one line, and whether a key is next. Null in a comment or in a quoted text, and
// behind the brackets.
function flowAt(text: string): { path: string[]; wants: 'key' | 'value'; siblings: string[] } | null {
  const open: { list: boolean; key?: string; keys: string[] }[] = [];
  let word = '';
  let quote = '';
  let isOver = false; // the brackets are closed
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i]!;
    const here = open.at(-1);
    if (quote) {
      if (char === quote) quote = '';
      else word += char;
    } else if ((char === '"' || char === "'") && word.trim() === '') quote = char;
    else if (char === '#' && (i === 0 || text[i - 1] === ' ')) return null;
    else if (char === '{' || char === '[') {
      open.push({ list: char === '[', keys: [] });
      word = '';
    } else if (char === '}' || char === ']') {
      open.pop();
      word = '';
      if (open.length === 0) isOver = true;
    } else if (char === ',' && here) {
      here.key = undefined;
      word = '';
    } else if (char === ':' && here && !here.list && here.key === undefined) {
      here.key = word.trim();
      here.keys.push(here.key);
      word = '';
    } else word += char;
  }
  if (quote || isOver) return null;
  const path = open.flatMap((one) => (one.list ? ['-'] : one.key === undefined ? [] : [one.key]));
  const last = open.at(-1);
  const isKey = last !== undefined && !last.list && last.key === undefined;
  return { path, wants: isKey ? 'key' : 'value', siblings: last?.keys ?? [] };
}

export function spotAt(text: string, position: number): Spot | null {
  const start = text.lastIndexOf('\n', position - 1) + 1;
  const before = text.slice(start, position);
  if (before.includes('\t')) return null;
  const word = /[A-Za-z0-9_-]*$/.exec(before)![0];
  const head = before.slice(0, before.length - word.length);
  const { entries, rest } = entriesOf(head);
  const value = head.slice(rest);
  const flow = flowAt(value);
  if (!flow) return null;
  const inFlow = /[[{]/.test(value);
  if (!inFlow && value.trim() !== '') return null; // within a text of several words
  // "key:" needs a space before its value.
  if (head.endsWith(':')) return null;
  const isAlone = !inFlow && entries.at(-1)?.name !== undefined ? entries.at(-1)!.name === '-' : !inFlow;
  const column = entries[0]?.column ?? head.length;
  const around = pathAbove(text.slice(0, start), entries[0] ?? { column, name: '' });
  const siblings = inFlow ? flow.siblings : isAlone && entries.length === 0 ? around.siblings : [];
  return {
    path: [...around.path, ...entries.map(({ name }) => name), ...flow.path],
    wants: isAlone ? 'either' : flow.wants,
    from: position - word.length,
    word,
    siblings,
  };
}

// The keys and dashes around `inner`, in the lines above it, and the keys beside it.
function pathAbove(above: string, inner: Entry): { path: string[]; siblings: string[] } {
  const path: string[] = [];
  const siblings: string[] = [];
  let { column } = inner;
  let dash = inner.name === '-';
  let beside = true; // still among the keys of the same object
  const lines = above.split('\n').slice(0, -1).toReversed().slice(0, LINES_BACK);
  for (const line of lines) {
    if (column === 0 && !dash && !beside) break;
    if (/^\s*(#|$)/.test(line)) continue;
    const { entries } = entriesOf(line);
    for (const entry of entries.toReversed()) {
      const isParent = entry.column < column || (dash && entry.name !== '-' && entry.column === column);
      if (isParent) {
        path.unshift(entry.name);
        column = entry.column;
        dash = entry.name === '-';
        beside = false;
      } else if (beside && entry.column === column && entry.name !== '-') siblings.push(entry.name);
    }
  }
  return { path, siblings };
}

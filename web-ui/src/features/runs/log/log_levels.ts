// Detects the level of a log line from the formats of common loggers. Pure.
export const LEVELS = ['ERROR', 'WARN', 'INFO', 'DEBUG'] as const;
export type Level = (typeof LEVELS)[number];

const LOOK_AT = 400; // characters of a line that are searched; a level is near the beginning
const LOOK_AT_JSON = 4000;
const TOKENS_MAX = 12;

const WORDS: Record<string, Level> = {
  fatal: 'ERROR',
  critical: 'ERROR',
  crit: 'ERROR',
  alert: 'ERROR',
  emerg: 'ERROR',
  emergency: 'ERROR',
  panic: 'ERROR',
  severe: 'ERROR',
  error: 'ERROR',
  err: 'ERROR',
  warning: 'WARN',
  warn: 'WARN',
  info: 'INFO',
  information: 'INFO',
  notice: 'INFO',
  debug: 'DEBUG',
  trace: 'DEBUG',
  fine: 'DEBUG',
  finer: 'DEBUG',
  finest: 'DEBUG',
  verbose: 'DEBUG',
};
const GLOG: Record<string, Level> = { F: 'ERROR', E: 'ERROR', W: 'WARN', I: 'INFO' };

const word = (text: string | undefined): Level | null => {
  const small = text?.toLowerCase() ?? '';
  return Object.hasOwn(WORDS, small) ? WORDS[small]! : null;
};

const JSON_LEVEL = /"(?:level|severity|lvl|levelname|log\.level|loglevel)"\s*:\s*(?:"([A-Za-z]+)"|(\d+))/i;
const PAIRS = /^[\w.]+=/; // logfmt: level=info msg="ready"
const PAIR_LEVEL = /(?:^|\s)(?:level|lvl|severity)="?([A-Za-z]+)"?(?=\s|$)/i;
const GLOG_LINE = /^([FEWI])\d{4}(?:\d{4})? \d\d:\d\d:\d\d/;
const TOKENS = /\[[^\]]*\]:?|\S+/g;
const MARKED = /^[[(<](?:\w+:)?(\w+)[\])>]:?$/; // [error], <warn>, [core:error]
const STARTS = /^([A-Za-z]+):/; // ERROR:root:text, warning: text
// Words that may precede a level: a time or another word with digits, a part in brackets, a separator, a name
// with dots.
const BEFORE = /^(?:[[(<{].*|[-|:–]+|\S*\d\S*|[\w$]+(?:[.:/][\w$]+)+:?)$/;

// Numeric levels of the loggers pino and bunyan.
const ofNumber = (value: number): Level =>
  value >= 50 ? 'ERROR' : value >= 40 ? 'WARN' : value >= 30 ? 'INFO' : 'DEBUG';

// Finds a level among other words in brackets. The level must be in capitals: [2026-11-22T10:00:00Z ERROR
// app] has a level, [the error log] has none.
const inBrackets = (token: string): Level | null =>
  token
    .slice(1, -1)
    .split(/\s+/)
    .map((one) => (one === one.toUpperCase() ? word(one) : null))
    .find((one) => one !== null) ?? null;

// Looks for a level word by word, up to the first word that cannot precede a level.
function ofTokens(line: string): Level | null {
  const tokens = line.match(TOKENS)?.slice(0, TOKENS_MAX) ?? [];
  for (const [i, token] of tokens.entries()) {
    const bare = MARKED.exec(token)?.[1] ?? token.replace(/[:,|]$/, '');
    const found = word(bare);
    // A word in lower case belongs to the message, unless it is marked as a level or begins the line.
    if (found && (bare === bare.toUpperCase() || bare !== token || (i === 0 && tokens[1] === '-')))
      return found;
    const among = token.startsWith('[') ? inBrackets(token) : null;
    if (among) return among;
    const joined = i === 0 ? word(STARTS.exec(token)?.[1]) : null;
    if (joined) return joined;
    const named = /^[-|]$/.test(tokens[i + 1] ?? ''); // python: time - name - LEVEL - text
    if (!named && !BEFORE.test(token)) return null;
  }
  return null;
}

// Returns the level that the line itself names. `text` is the line as it is shown. null if the line names no
// level. Such a line gets the level of the line before it.
export function levelOf(text: string): Level | null {
  if (/^\s*\{/.test(text)) {
    const [, name, value] = JSON_LEVEL.exec(text.slice(0, LOOK_AT_JSON)) ?? [];
    if (name ?? value) return word(name) ?? (value ? ofNumber(Number(value)) : null);
  }
  if (/^\s/.test(text)) return null; // the line continues the line before it, as in a stack trace
  const line = text.slice(0, LOOK_AT);
  const glog = GLOG_LINE.exec(line);
  if (glog) return GLOG[glog[1]!]!;
  return PAIRS.test(line) ? word(PAIR_LEVEL.exec(line)?.[1]) : ofTokens(line);
}

// True if the filter for level `least` shows the line: its level is `least` or more serious. Lines of the
// scheduler itself are always shown.
export const isAtLeast = (line: { level: Level | null; stream: string }, least: Level): boolean =>
  line.stream === 'carillon' || (line.level !== null && LEVELS.indexOf(line.level) <= LEVELS.indexOf(least));

// For each level, counts the lines with this level or a more serious level.
export function countFrom(lines: readonly { level: Level | null }[]): Record<Level, number> {
  const counts = { ERROR: 0, WARN: 0, INFO: 0, DEBUG: 0 };
  for (const line of lines) if (line.level !== null) counts[line.level] += 1;
  LEVELS.forEach((level, i) => {
    counts[level] += i > 0 ? counts[LEVELS[i - 1]!] : 0;
  });
  return counts;
}

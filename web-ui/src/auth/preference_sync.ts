// Language, theme and the form of times go with the user: what was chosen on another browser holds here after the sign-in,
// what is chosen here is written.
//
// Errors   One that cannot be written holds while the page is open, and is tried again.
import {
  LANGUAGES,
  THEMES,
  TIME_MODES,
  chosenHere,
  onPreferences,
  preferences,
  settle,
  takePreferences,
  type Preferences,
} from '../lib/preferences';

const AGAIN_MS = 5000;
const KEPT = ['language', 'theme', 'time'] as const;
// As GET /api/auth/me has them; null: not chosen.
export type KeptPreferences = { [name in (typeof KEPT)[number]]: string | null };
type Write = (change: Partial<KeptPreferences>) => Promise<boolean>;

const KNOWN: { [name in (typeof KEPT)[number]]: readonly string[] } = {
  language: LANGUAGES,
  theme: THEMES,
  time: TIME_MODES,
};

// Of a newer server there may be one that this console does not know: then the browser's holds.
export function takenFrom(kept: KeptPreferences): Partial<Preferences> {
  return Object.fromEntries(
    KEPT.filter((name) => KNOWN[name].includes(kept[name] ?? '')).map((name) => [name, kept[name]]),
  );
}

const choice = () =>
  Object.fromEntries(KEPT.map((name) => [name, preferences()[name]])) as Record<string, string>;

// From here on every choice is written, one request at a time and the last choice last; until what it returns is called.
// What was chosen on this page before the server's answer came is the later choice, and is written too.
export function keepPreferences(kept: KeptPreferences, write: Write): () => void {
  const here = KEPT.filter(chosenHere);
  const taken = Object.entries(takenFrom(kept)).filter(([name]) => !here.some((one) => one === name));
  takePreferences(Object.fromEntries(taken));
  let told: Record<string, string | null> = choice(); // what the server knows, or need not know
  for (const name of here) told[name] = kept[name];
  settle(here.filter((name) => kept[name] === preferences()[name]));
  let ended = false;
  let writing = false;
  let later: ReturnType<typeof setTimeout> | undefined;
  const tell = async () => {
    if (writing || ended) return;
    const now = choice();
    const change = Object.fromEntries(
      KEPT.filter((name) => now[name] !== told[name]).map((name) => [name, now[name]]),
    );
    if (Object.keys(change).length === 0) return;
    writing = true;
    const done = await write(change);
    writing = false;
    if (!done) {
      clearTimeout(later);
      later = setTimeout(() => void tell(), AGAIN_MS);
      return;
    }
    told = now;
    settle(Object.keys(change).filter((name) => choice()[name] === now[name]));
    await tell();
  };
  const stop = onPreferences(() => void tell());
  void tell();
  return () => {
    ended = true;
    clearTimeout(later);
    stop();
  };
}

// Synchronises language, theme and time format with the user's account. After sign-in, choices from
// another browser apply here; choices made here are saved on the server.
//
// Errors   A choice that cannot be saved applies while the page is open, and is sent again later.
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
// As in GET /api/auth/me; null: not chosen.
export type KeptPreferences = { [name in (typeof KEPT)[number]]: string | null };
type Write = (change: Partial<KeptPreferences>) => Promise<boolean>;

const KNOWN: { [name in (typeof KEPT)[number]]: readonly string[] } = {
  language: LANGUAGES,
  theme: THEMES,
  time: TIME_MODES,
};

// A newer server may send a value that this console does not know; then the browser's choice stays.
export function takenFrom(kept: KeptPreferences): Partial<Preferences> {
  return Object.fromEntries(
    KEPT.filter((name) => KNOWN[name].includes(kept[name] ?? '')).map((name) => [name, kept[name]]),
  );
}

const choice = () =>
  Object.fromEntries(KEPT.map((name) => [name, preferences()[name]])) as Record<string, string>;

// Saves every choice from now on, one request at a time, until the returned function is called. A
// choice that was made on this page before the server answered is newer than the server's, so it is
// saved too.
export function keepPreferences(kept: KeptPreferences, write: Write): () => void {
  const here = KEPT.filter(chosenHere);
  const taken = Object.entries(takenFrom(kept)).filter(([name]) => !here.some((one) => one === name));
  takePreferences(Object.fromEntries(taken));
  // Values that the server has, or does not need.
  let told: Record<string, string | null> = choice();
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

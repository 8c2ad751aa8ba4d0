// Language, theme and time format are also stored with the user who is signed in by a password: read when the
// user becomes known, which undoes what was chosen before, and written when one is changed.
import {
  LANGUAGES,
  THEMES,
  TIME_MODES,
  onPreferences,
  preferences,
  setPreferences,
} from '../lib/preferences';
import type { Preferences } from '../lib/preferences';

const KNOWN = { language: LANGUAGES, theme: THEMES, time: TIME_MODES };
type Name = keyof typeof KNOWN;
const NAMES = ['language', 'theme', 'time'] as const;

// As GET /api/auth/me has them; null: not chosen.
export type StoredPreferences = Record<Name, string | null>;

// What is not chosen, or not known here (of a newer server), is the browser's.
export function takenFrom(stored: StoredPreferences): Partial<Preferences> {
  const known = NAMES.filter((name) => (KNOWN[name] as readonly unknown[]).includes(stored[name]));
  return Object.fromEntries(known.map((name) => [name, stored[name]]));
}

export class PreferenceSync {
  #before: Preferences | null = null; // null: nothing is written

  constructor(write: (change: Partial<StoredPreferences>) => void) {
    onPreferences(() => {
      const before = this.#before;
      if (before === null) return;
      const now = preferences();
      this.#before = now;
      const changed = NAMES.filter((name) => now[name] !== before[name]);
      if (changed.length > 0) write(Object.fromEntries(changed.map((name) => [name, now[name]])));
    });
  }

  // `stored`: of the user who is signed in; undefined for nobody, a token, or a server that stores none.
  follow(stored: StoredPreferences | undefined): void {
    this.#before = null;
    if (stored === undefined) return;
    setPreferences(takenFrom(stored));
    this.#before = preferences();
  }
}

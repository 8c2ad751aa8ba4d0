// Synchronises language, theme and time format with the user who is signed in by a password. When the user
// becomes known, the stored preferences are read and replace the choices of this browser. Every later change
// is written to the server.
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

// Preferences as in GET /api/auth/me. null: the user has not chosen this preference.
export type StoredPreferences = Record<Name, string | null>;

// Returns the stored preferences to apply. A preference is left out if the user has not chosen it, or if only
// a newer console knows its value. The choice of this browser then stays.
export function preferencesFrom(stored: StoredPreferences): Partial<Preferences> {
  const known = NAMES.filter((name) => (KNOWN[name] as readonly unknown[]).includes(stored[name]));
  return Object.fromEntries(known.map((name) => [name, stored[name]]));
}

export class PreferenceSync {
  #before: Preferences | null = null; // the preferences before a change; null: changes are not written

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

  // `stored` are the preferences of the signed-in user. undefined: nobody is signed in, the user signed in
  // with a token, or the server does not store preferences.
  follow(stored: StoredPreferences | undefined): void {
    this.#before = null;
    if (stored === undefined) return;
    setPreferences(preferencesFrom(stored));
    this.#before = preferences();
  }
}

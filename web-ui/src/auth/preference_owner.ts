// Stores the preferences of this browser with the user who is signed in by a password, and keeps
// the choices of different users apart.
import { forgetChosen } from '../lib/preferences';
import type { KeptPreferences } from './preference_sync';
import type { Person } from './session_store';

type Write = (change: Partial<KeptPreferences>) => Promise<boolean>;

export class PreferenceOwner {
  #keeping: Person | null = null;
  // User with choices that have not been saved, even after their session.
  #chooser: string | null = null;
  #stop = () => {};
  readonly #write: Write;

  constructor(write: Write) {
    this.#write = write;
  }

  // `person` is the user who is signed in by a password; null if nobody is, or by a token.
  async follow(person: Person | null): Promise<void> {
    if (person === this.#keeping) return;
    // Another user chooses for themselves.
    if (person !== null && this.#chooser !== null && this.#chooser !== person.user_id) forgetChosen();
    this.#chooser = person?.user_id ?? this.#chooser;
    this.#keeping = person;
    this.#stop();
    this.#stop = () => {};
    if (!person?.preferences) return;
    const { keepPreferences } = await import('./preference_sync').catch(() => ({ keepPreferences: null }));
    if (keepPreferences === null)
      this.#keeping = null; // not to be had now
    else if (person === this.#keeping) this.#stop = keepPreferences(person.preferences, this.#write);
  }

  // Choices from now on belong to no user.
  forget(): void {
    forgetChosen();
    this.#chooser = null;
  }
}

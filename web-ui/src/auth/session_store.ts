// The sign-in of this page as one value, its transitions as pure functions, and the store that holds
// the value.
import type { Share } from '../api/types';
import type { StoredPreferences } from './preference_sync';

export interface Person {
  kind: string;
  user_id: string | null;
  name: string;
  display_name: string;
  role: string;
  permissions: string[];
  shares?: Share[];
  preferences?: StoredPreferences; // absent: the server is too old to store preferences
}

export type Session =
  | { state: 'starting' }
  | { state: 'signed_out'; users: boolean; setupNeeded: boolean; expired: boolean }
  | { state: 'signed_in'; by: 'token' | 'password'; person: Person | null };

// The response to GET /api/auth/state. `unsure`: there was no response, so the values are assumed. The
// request is then repeated while nobody is signed in.
export interface ServerState {
  users: boolean;
  setupNeeded: boolean;
  unsure: boolean;
}

export interface SignIn {
  readonly session: Session;
  readonly bearer: string; // the access token or API token that requests carry
  readonly era: number; // grows with each sign-in and sign-out; responses from earlier eras are ignored
  readonly server: ServerState;
}

export const STARTING: SignIn = {
  session: { state: 'starting' },
  bearer: '',
  era: 0,
  server: { users: false, setupNeeded: false, unsure: false },
};

// Begins another sign-in. Responses to requests of the earlier sign-in are ignored. `bearer` is '' if nobody
// is signed in.
export const newEra = (now: SignIn, bearer: string): SignIn => ({ ...now, era: now.era + 1, bearer });

// Returns the same sign-in with another access token.
export const withBearer = (now: SignIn, bearer: string): SignIn => ({ ...now, bearer });

export const signedIn = (now: SignIn, by: 'token' | 'password', person: Person | null): SignIn => ({
  ...now,
  session: { state: 'signed_in', by, person },
});

export function signedOut(now: SignIn, expired: boolean): SignIn {
  const { users, setupNeeded } = now.server;
  return { ...now, session: { state: 'signed_out', users, setupNeeded, expired } };
}

export const withServerState = (now: SignIn, server: ServerState): SignIn => ({ ...now, server });

// Copies the server's latest state into the session, so that an open sign-in page shows this state.
export const signInPageUpdated = (now: SignIn): SignIn =>
  now.session.state === 'signed_out' ? signedOut(now, now.session.expired) : now;

// Listeners are called only when `session` changes. A new token or era alone does not call them.
export class SessionStore {
  #now = STARTING;
  readonly #listeners = new Set<() => void>();

  get now(): SignIn {
    return this.#now;
  }

  become(next: SignIn): void {
    const before = this.#now.session;
    this.#now = next;
    if (next.session !== before) this.#listeners.forEach((listener) => listener());
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

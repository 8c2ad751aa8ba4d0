// The sign-in of this page as one value, its transitions as pure functions, and the store that holds it.
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
  preferences?: StoredPreferences; // absent: of a server before there were any
}

export type Session =
  | { state: 'starting' }
  | { state: 'signed_out'; users: boolean; setupNeeded: boolean; expired: boolean }
  | { state: 'signed_in'; by: 'token' | 'password'; person: Person | null };

// What GET /api/auth/state says. `unsure`: it has not been answered, and is asked again while nobody is signed in.
export interface ServerState {
  users: boolean;
  setupNeeded: boolean;
  unsure: boolean;
}

export interface SignIn {
  readonly session: Session;
  readonly bearer: string; // the access token or API token that requests carry
  readonly era: number; // grows with each sign-in and sign-out: a request of an earlier era changes nothing
  readonly server: ServerState;
}

export const STARTING: SignIn = {
  session: { state: 'starting' },
  bearer: '',
  era: 0,
  server: { users: false, setupNeeded: false, unsure: false },
};

// Another sign-in: what is under way for the one before is void. '' for nobody's.
export const newEra = (now: SignIn, bearer: string): SignIn => ({ ...now, era: now.era + 1, bearer });

// The same sign-in with another access token.
export const withBearer = (now: SignIn, bearer: string): SignIn => ({ ...now, bearer });

export const signedIn = (now: SignIn, by: 'token' | 'password', person: Person | null): SignIn => ({
  ...now,
  session: { state: 'signed_in', by, person },
});

export function signedOut(now: SignIn, expired: boolean): SignIn {
  const { users, setupNeeded } = now.server;
  return { ...now, session: { state: 'signed_out', users, setupNeeded, expired } };
}

export const serverSaid = (now: SignIn, server: ServerState): SignIn => ({ ...now, server });

// The sign-in page learns what the server said since it was opened.
export const signInPageUpdated = (now: SignIn): SignIn =>
  now.session.state === 'signed_out' ? signedOut(now, now.session.expired) : now;

// Its listeners are called when the session is another one, and only then.
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

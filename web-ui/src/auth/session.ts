// The signed-in user and the user's credential, which is one of:
// - after a sign-in by password, a short-lived access token in memory. It is renewed with a cookie that
//   scripts cannot read;
// - an API token. It is kept in the sessionStorage of this tab until the tab is closed.
// GET /api/auth/state is repeated until the server has said whether it has users.
import './texts.en';
import { useSyncExternalStore } from 'react';
import { setCredential } from '../api/client';
import type { Reachable } from '../api/types';
import { READ_LONGEST_MS } from '../api/url';
import { ask, inTurn, refreshAnswer, stateAnswer } from './bootstrap_requests';
import { PreferenceSync, type StoredPreferences } from './preference_sync';
import {
  SessionStore,
  newEra,
  withServerState,
  signInPageUpdated,
  signedIn,
  signedOut,
  withBearer,
  type Person,
  type Session,
} from './session_store';
import { SESSION_KEY, hasSession, noteSession, storeToken, storedToken } from './token_storage';

export type { Person, Session } from './session_store';

const AGAIN_MS = 5000;

const store = new SessionStore();
const sync = new PreferenceSync(writePreferences);
// Requests in progress. If several requests get a 401, they share one renewal.
const inProgress = {
  state: Promise.resolve(),
  asksAgain: false,
  renewal: null as Promise<Renewal> | null,
  preferences: Promise.resolve(), // writes follow one another, so that the last choice is written last
};

const passwordOf = (session: Session): Person | null =>
  session.state === 'signed_in' && session.by === 'password' ? session.person : null;
store.subscribe(() => sync.follow(passwordOf(store.now.session)?.preferences));

export const authorization = () => (store.now.bearer ? 'Bearer ' + store.now.bearer : '');
export const useSession = () => useSyncExternalStore(store.subscribe, () => store.now.session);

export type Permission =
  | 'jobs:write'
  | 'jobs:run'
  | 'executors:write'
  | 'config:write'
  | 'users:manage'
  | 'secrets:write'
  | 'audit:read'
  | 'events:write';

// True if the user's role has the permission, at least for jobs of the user. Forbidden actions stay visible.
// The server checks every request. Only the server checks who owns a job.
export function useMay(permission: Permission): boolean {
  const current = useSession();
  if (current.state !== 'signed_in' || current.person === null) return true;
  const { permissions } = current.person;
  return permissions.includes(permission) || permissions.includes(permission + ':own');
}

const RUNNING = new Set(['execute', 'cancel', 'retry', 'release', 'skip', 'discard', 'backfill']);

// Returns the reason why an action on an object is forbidden, as a key of the texts. undefined: the action is
// allowed. The object's allowed_actions take the owner of the object into account. If the server did not send
// them, only the user's role is checked.
export function useDenied(): (it: Reachable, action: string) => string | undefined {
  const mayRun = useMay('jobs:run');
  const mayWrite = useMay('jobs:write');
  return ({ allowed_actions: allowed }, action) =>
    !(RUNNING.has(action) ? mayRun : mayWrite)
      ? 'denied.write'
      : allowed?.includes(action) === false
        ? 'denied.own'
        : undefined;
}

// Reads whether the server has users. If the server does not answer, it is assumed to have users: the sign-in
// page then asks for a password, and offers a token as a choice. 404 means that the server has no users.
async function readState(): Promise<void> {
  let server = { unsure: true, users: true, setupNeeded: false };
  try {
    const response = await stateAnswer();
    const state = response.ok ? ((await response.json()) as { setup_needed: boolean }) : null;
    const unsure = state === null && response.status !== 404;
    server = { unsure, users: state !== null || unsure, setupNeeded: Boolean(state?.setup_needed) };
  } catch {
    // There was no response, so `server` keeps the assumed values.
  }
  store.become(withServerState(store.now, server));
}

function leave(expired: boolean): void {
  store.become(signedOut(store.now, expired));
  if (store.now.server.unsure && !inProgress.asksAgain) void askAgain();
}

async function askAgain(): Promise<void> {
  inProgress.asksAgain = true;
  while (store.now.server.unsure && store.now.session.state === 'signed_out') {
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    await readState();
  }
  inProgress.asksAgain = false;
  store.become(signInPageUpdated(store.now));
}

// Called once, when the console is opened. If the server does not answer, the user stays signed in. This ends
// when the server refuses the credential.
export async function start(): Promise<void> {
  const token = storedToken();
  if (token) {
    await readState();
    store.become(withBearer(store.now, token));
    const person = await whoAmI();
    store.become(signedIn(store.now, 'token', person));
    return;
  }
  inProgress.state = readState();
  // Both requests run at the same time. One after the other would take longer, because the browser is busy
  // loading the page and handles each response late.
  const renewal = hasSession() ? await refresh() : 'ended';
  if (renewal === 'renewed') return;
  await inProgress.state;
  if (renewal === 'ended' || !store.now.server.users) leave(false);
  else store.become(signedIn(store.now, 'password', null));
}

// Writes the preferences with the credential of the user who made the choice, even if another user has signed
// in since. If writing fails, the choice applies in this browser until the next sign-in.
function writePreferences(preferences: Partial<StoredPreferences>): void {
  const sent = currentCredential();
  const patch = (bearer: string) =>
    ask('PATCH', 'auth/me', {
      headers: { Authorization: 'Bearer ' + bearer, 'Content-Type': 'application/json' },
      body: JSON.stringify({ preferences }),
      keepalive: true, // the request completes even if the page is closed at once
    });
  const write = async () => {
    const response = await patch(sent.bearer);
    if (response.status === 401 && (await renew(sent))) await patch(store.now.bearer);
  };
  inProgress.preferences = inProgress.preferences.then(write).catch(() => {});
}

// The response to a sign-in or a renewal. An older server leaves out the user's permissions. The user is then
// requested with GET /api/auth/me.
export interface Begun {
  access_token: string;
  user?: Partial<Person>;
}
const personOf = async (user: Begun['user']): Promise<Person | null> =>
  user?.permissions ? (user as Person) : whoAmI();

async function whoAmI(): Promise<Person | null> {
  await inProgress.state;
  if (!store.now.server.users) return null;
  try {
    const response = await ask('GET', 'auth/me', {
      headers: { Authorization: authorization() },
      signal: AbortSignal.timeout(READ_LONGEST_MS),
    });
    return response.ok ? ((await response.json()) as Person) : null;
  } catch {
    return null;
  }
}

// Only a refusal ends a session. If the server is busy or unavailable, the next request tries the
// renewal again.
type Renewal = 'renewed' | 'ended' | 'not_now';

async function refresh(): Promise<Renewal> {
  const { era } = store.now;
  return inTurn(() => exchange(era));
}

async function exchange(era: number): Promise<Renewal> {
  if (era !== store.now.era) return 'not_now';
  let known: Begun['user'];
  try {
    const response = await refreshAnswer();
    if (era !== store.now.era) return 'not_now';
    if (response.status === 401 || response.status === 403) {
      noteSession(false);
      return 'ended';
    }
    if (!response.ok) return 'not_now';
    const begun = (await response.json()) as Begun;
    if (era !== store.now.era) return 'not_now';
    store.become(withBearer(store.now, begun.access_token));
    known = begun.user;
  } catch {
    return 'not_now';
  }
  const { session } = store.now;
  if (session.state !== 'signed_in' || session.person === null) {
    const person = await personOf(known);
    if (era !== store.now.era) return 'not_now';
    store.become(signedIn(store.now, 'password', person));
  }
  return 'renewed';
}

// Begins a session after a sign-in. `token` is the API token, or the access token of a sign-in by password.
export async function entered(by: 'token' | 'password', token: string, user?: Begun['user']): Promise<void> {
  store.become(newEra(store.now, token));
  if (by === 'token') storeToken(token);
  else noteSession(true);
  const person = await personOf(user);
  store.become(signedIn(store.now, by, person));
}

export const setUpDone = () => {
  store.become(withServerState(store.now, { ...store.now.server, setupNeeded: false }));
};
// Continues the session with another access token.
export const replaceToken = (token: string) => {
  store.become(withBearer(store.now, token));
};

// The credential that a request carries, and the number of the sign-in that the credential belongs to.
export interface SentCredential {
  era: number;
  bearer: string;
}
export const currentCredential = (): SentCredential => ({
  era: store.now.era,
  bearer: store.now.bearer,
});

// Called when a request that carried `sent` got a 401. True if the request should be sent again. Concurrent
// requests share one renewal. A request whose 401 arrives after the renewal shares it too. A request of an
// earlier sign-in is never sent again with the credential of a later sign-in.
export async function renew(sent: SentCredential): Promise<boolean> {
  const { session, era, bearer } = store.now;
  if (session.state !== 'signed_in' || sent.era !== era) return false;
  if (sent.bearer !== bearer) return true;
  if (session.by === 'password') {
    inProgress.renewal ??= refresh().finally(() => {
      inProgress.renewal = null;
    });
    const renewal = await inProgress.renewal;
    const same = era === store.now.era;
    if (renewal !== 'ended' || !same) return renewal === 'renewed' && same;
  }
  store.become(withBearer(store.now, ''));
  storeToken('');
  leave(true);
  return false;
}

setCredential({ authorization, current: currentCredential, renew });

// Another tab signed out. All tabs share the cookie of the session. So this tab cannot renew its access token
// any more, and signs out too.
addEventListener('storage', ({ key, newValue }) => {
  const { session } = store.now;
  if (key !== SESSION_KEY || newValue !== null || session.state !== 'signed_in' || session.by !== 'password')
    return;
  store.become(newEra(store.now, ''));
  leave(false);
});

export async function signOut(): Promise<void> {
  const { session } = store.now;
  const password = session.state === 'signed_in' && session.by === 'password';
  const had = authorization();
  store.become(newEra(store.now, ''));
  const { era } = store.now;
  storeToken('');
  leave(false);
  if (!password) return;
  noteSession(false);
  try {
    // Waits for a renewal in progress, because the renewal replaces the cookie. The server finds the session
    // to end by this cookie.
    await inProgress.renewal;
    await inTurn(async () => {
      // If somebody has signed in meanwhile, the cookie belongs to the new session, which must not end.
      if (era === store.now.era)
        await ask('POST', 'auth/logout', { headers: { Authorization: had, 'X-Carillon-Refresh': '1' } });
    });
  } catch {
    // The error is ignored, because the access token expires within minutes.
  }
}

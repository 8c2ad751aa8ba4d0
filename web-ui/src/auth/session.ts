// The signed-in user and their credential: a name and password (a short-lived access token in
// memory, renewed with a cookie that scripts cannot read), or an API token (in sessionStorage until
// the tab is closed). GET /api/auth/state is repeated until it is known whether the server has
// users with passwords.
import { useSyncExternalStore } from 'react';
import type { Reachable } from '../api/types';
import { forgetChosen } from '../lib/preferences';
import { READ_LONGEST_MS, ask, inTurn, refreshAnswer, stateAnswer } from './bootstrap_requests';
import { PreferenceOwner } from './preference_owner';
import type { KeptPreferences } from './preference_sync';
import {
  SessionStore,
  newEra,
  serverSaid,
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
const owner = new PreferenceOwner(writePreferences);
// Requests in progress: the server's state, whether that is being repeated, and a renewal that
// several requests share.
const underWay = {
  state: Promise.resolve(),
  asksAgain: false,
  renewal: null as Promise<Renewal> | null,
};

const passwordOf = (session: Session): Person | null =>
  session.state === 'signed_in' && session.by === 'password' ? session.person : null;
store.subscribe(() => void owner.follow(passwordOf(store.now.session)));

export const authorization = () => (store.now.bearer ? 'Bearer ' + store.now.bearer : '');
export const useSession = () => useSyncExternalStore(store.subscribe, () => store.now.session);

export type Permission =
  | 'jobs:write'
  | 'jobs:run'
  | 'executors:write'
  | 'config:write'
  | 'users:manage'
  | 'secrets:write'
  | 'audit:read';

// Forbidden actions stay visible. The server decides in any case, and only the server knows who
// owns a job.
export function useMay(permission: Permission): boolean {
  const current = useSession();
  if (current.state !== 'signed_in' || current.person === null) return true;
  const { permissions } = current.person;
  return permissions.includes(permission) || permissions.includes(permission + ':own');
}

const RUNNING = new Set(['execute', 'cancel', 'retry', 'discard']);

// Returns a function that says why an action on an object is denied, as a key of the texts;
// undefined if it is allowed. The object's allowed_actions say whether the user may act on it;
// without them only the role is checked.
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

// While the server's state is unknown, it is assumed to have users: a password can be tried, and a
// token can still be chosen.
async function readState(): Promise<void> {
  let server = { unsure: true, users: true, setupNeeded: false };
  try {
    const response = await stateAnswer();
    const state = response.ok ? ((await response.json()) as { setup_needed: boolean }) : null;
    const unsure = state === null && response.status !== 404;
    server = { unsure, users: state !== null || unsure, setupNeeded: Boolean(state?.setup_needed) };
  } catch {
    // Not known yet.
  }
  store.become(serverSaid(store.now, server));
}

// Ends the session. Choices that have not been saved are kept until the user comes back, but
// not if they signed out themselves, nor if they were signed in by a token: those choices
// belong to no user.
function leave(expired: boolean, byChoice = !expired): void {
  const { session } = store.now;
  if (byChoice || (session.state === 'signed_in' && session.by === 'token')) forgetChosen();
  store.become(signedOut(store.now, expired));
  if (store.now.server.unsure && !underWay.asksAgain) void askAgain();
}

async function askAgain(): Promise<void> {
  underWay.asksAgain = true;
  while (store.now.server.unsure && store.now.session.state === 'signed_out') {
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    await readState();
  }
  underWay.asksAgain = false;
  store.become(signInPageUpdated(store.now));
}

// Called once, when the console is opened. If the server does not answer, the stored sign-in is
// trusted until the server refuses it.
export async function start(): Promise<void> {
  const token = storedToken();
  if (token) {
    await readState();
    store.become(withBearer(store.now, token));
    const person = await whoAmI();
    store.become(signedIn(store.now, 'token', person));
    return;
  }
  underWay.state = readState();
  // Sent in parallel with the state request, because each response may wait for the main thread,
  // which is busy loading the page.
  const renewal = hasSession() ? await refresh() : 'ended';
  if (renewal === 'renewed') return;
  await underWay.state;
  if (renewal === 'ended' || !store.now.server.users) leave(false);
  else store.become(signedIn(store.now, 'password', null));
}

async function writePreferences(change: Partial<KeptPreferences>): Promise<boolean> {
  const patch = () =>
    ask('PATCH', 'auth/me', {
      headers: { Authorization: authorization(), 'Content-Type': 'application/json' },
      body: JSON.stringify({ preferences: change }),
      keepalive: true, // completes even if the page is closed right after
    });
  try {
    const sent = pass();
    let response = await patch();
    if (response.status === 401 && (await renew(sent))) response = await patch();
    return response.ok;
  } catch {
    return false;
  }
}

// The response that begins or renews a session. Older servers do not send the user's permissions;
// then they are requested.
export interface Begun {
  access_token: string;
  user?: Partial<Person>;
}
const personOf = async (user: Begun['user']): Promise<Person | null> =>
  user?.permissions ? (user as Person) : whoAmI();

async function whoAmI(): Promise<Person | null> {
  await underWay.state;
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

// Only a refusal ends a session. If the server is busy, unavailable or restarting, the next request
// tries again.
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

// Called after a sign-in with an API token, or with a password that returned an access token.
export async function entered(by: 'token' | 'password', token: string, user?: Begun['user']): Promise<void> {
  store.become(newEra(store.now, token));
  if (by === 'token') {
    storeToken(token);
    owner.forget();
  } else {
    noteSession(true);
  }
  const person = await personOf(user);
  store.become(signedIn(store.now, by, person));
}

export const setUpDone = () => {
  store.become(serverSaid(store.now, { ...store.now.server, setupNeeded: false }));
};
// The session continues with another access token.
export const goOnWith = (token: string) => {
  store.become(withBearer(store.now, token));
};

// What a request goes with.
export interface Pass {
  era: number;
  bearer: string;
}
export const pass = (): Pass => ({ era: store.now.era, bearer: store.now.bearer });

// Called after a 401 to a request that was sent with `sent`. Returns true if the request should be
// sent again. Requests that fail at the same time share one renewal, and so do those whose 401
// arrives after it. Nothing is sent again if somebody else has signed in since.
export async function renew(sent: Pass): Promise<boolean> {
  const { session, era, bearer } = store.now;
  if (session.state !== 'signed_in' || sent.era !== era) return false;
  if (sent.bearer !== bearer) return true;
  if (session.by === 'password') {
    underWay.renewal ??= refresh().finally(() => {
      underWay.renewal = null;
    });
    const renewal = await underWay.renewal;
    const same = era === store.now.era;
    if (renewal !== 'ended' || !same) return renewal === 'renewed' && same;
  }
  store.become(withBearer(store.now, ''));
  storeToken('');
  leave(true);
  return false;
}

// All tabs share one cookie. If another tab has ended the session, nothing can be renewed here, and
// the user may have signed out.
addEventListener('storage', ({ key, newValue }) => {
  const { session } = store.now;
  if (key !== SESSION_KEY || newValue !== null || session.state !== 'signed_in' || session.by !== 'password')
    return;
  store.become(newEra(store.now, ''));
  leave(false, false);
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
    // Waits for a renewal in progress: the server ends the session by its cookie, and the renewal
    // exchanges it.
    await underWay.renewal;
    await inTurn(async () => {
      // If somebody has signed in meanwhile, the cookie is theirs.
      if (era === store.now.era)
        await ask('POST', 'auth/logout', { headers: { Authorization: had, 'X-Carillon-Refresh': '1' } });
    });
  } catch {
    // The session stays on the server, but the access token expires within minutes.
  }
}

// The signed-in user and their credential: a name and password (a short access token in memory, renewed with
// a cookie that scripts cannot read), or an API token (in this tab's sessionStorage until it is closed). GET
// /api/auth/state is asked until it is known whether anybody has a password yet.
import './texts.en';
import { useSyncExternalStore } from 'react';
import type { Reachable } from '../api/types';
import { READ_LONGEST_MS, ask, inTurn, refreshAnswer, stateAnswer } from './bootstrap_requests';
import { PreferenceSync, type StoredPreferences } from './preference_sync';
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
const sync = new PreferenceSync(writePreferences);
// Requests under way: the state of the server, its repetition until it answers, and a renewal that several share.
const underWay = {
  state: Promise.resolve(),
  asksAgain: false,
  renewal: null as Promise<Renewal> | null,
  preferences: Promise.resolve(), // one request at a time: the last choice is written last
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
  | 'audit:read';

// Forbidden actions stay visible; the server decides in any case, and alone about whose job it is.
export function useMay(permission: Permission): boolean {
  const current = useSession();
  if (current.state !== 'signed_in' || current.person === null) return true;
  const { permissions } = current.person;
  return permissions.includes(permission) || permissions.includes(permission + ':own');
}

const RUNNING = new Set(['execute', 'cancel', 'retry', 'discard']);

// Why something may not be done to it, as a key of the texts; undefined: it may. The list that comes with it says whose
// it is; where there is none, the role alone is known.
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

// Until the server says otherwise it has users: a password can be tried then, and a token still by choice.
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

function leave(expired: boolean): void {
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

// Once, when the console is opened. A server that does not answer is no reason to sign in again: what is here is
// believed until it says otherwise.
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
  // At once with that one: each answer waits for a thread that has a page to load.
  const renewal = hasSession() ? await refresh() : 'ended';
  if (renewal === 'renewed') return;
  await underWay.state;
  if (renewal === 'ended' || !store.now.server.users) leave(false);
  else store.become(signedIn(store.now, 'password', null));
}

// As the user who chose, also when another one has signed in meanwhile. One that cannot be written holds in this browser
// until the next sign-in.
function writePreferences(preferences: Partial<StoredPreferences>): void {
  const sent = pass();
  const patch = (bearer: string) =>
    ask('PATCH', 'auth/me', {
      headers: { Authorization: 'Bearer ' + bearer, 'Content-Type': 'application/json' },
      body: JSON.stringify({ preferences }),
      keepalive: true, // also where the page is closed right after
    });
  const write = async () => {
    const response = await patch(sent.bearer);
    if (response.status === 401 && (await renew(sent))) await patch(store.now.bearer);
  };
  underWay.preferences = underWay.preferences.then(write).catch(() => {});
}

// What a session is answered with that begins or goes on. A server of before says less of the user: then it is asked.
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

// Only a refusal ends a session; a server that is busy, away or restarting is asked again at the next request.
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

// Somebody came in by an API token, or by a password with its access token.
export async function entered(by: 'token' | 'password', token: string, user?: Begun['user']): Promise<void> {
  store.become(newEra(store.now, token));
  if (by === 'token') storeToken(token);
  else noteSession(true);
  const person = await personOf(user);
  store.become(signedIn(store.now, by, person));
}

export const setUpDone = () => {
  store.become(serverSaid(store.now, { ...store.now.server, setupNeeded: false }));
};
// The same session goes on with another access token.
export const goOnWith = (token: string) => {
  store.become(withBearer(store.now, token));
};

// What a request goes with.
export interface Pass {
  era: number;
  bearer: string;
}
export const pass = (): Pass => ({ era: store.now.era, bearer: store.now.bearer });

// After a 401 to a request that went with `sent`: true when it is worth another try. Several at once share one renewal,
// also those that are answered when it is over; nothing is sent again for whoever came in since.
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

// They share one cookie: without its session nothing here can be renewed, and whoever left may have left for good.
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
    // After a renewal that is under way: a session ends by its cookie, which that one exchanges.
    await underWay.renewal;
    await inTurn(async () => {
      // Whoever came in meanwhile has that cookie now.
      if (era === store.now.era)
        await ask('POST', 'auth/logout', { headers: { Authorization: had, 'X-Carillon-Refresh': '1' } });
    });
  } catch {
    // The access token ends by itself within minutes.
  }
}

// The signed-in user and their credential: a name and password (a short access token in memory, renewed with
// a cookie that scripts cannot read), or an API token (in this tab's sessionStorage until it is closed). GET
// /api/auth/state is asked until it is known whether anybody has a password yet.
import { useSyncExternalStore } from 'react';
import type { Reachable, Share } from '../api/types';
import { forgetChosen } from '../lib/preferences';
import { SESSION_KEY, hasSession, noteSession, storeToken, storedToken } from './token_storage';
import type { KeptPreferences } from './preference_sync';
import { READ_LONGEST_MS, ask, inTurn, refreshAnswer, stateAnswer } from './bootstrap_requests';

export interface Person {
  kind: string;
  user_id: string | null;
  name: string;
  display_name: string;
  role: string;
  permissions: string[];
  shares?: Share[];
  preferences?: KeptPreferences; // absent: of a server before there were any
}

export type Session =
  | { state: 'starting' }
  | { state: 'signed_out'; users: boolean; setupNeeded: boolean; expired: boolean }
  | { state: 'signed_in'; by: 'token' | 'password'; person: Person | null };

const AGAIN_MS = 5000;

let session: Session = { state: 'starting' };
let bearer = '';
let users = false;
let setupNeeded = false;
let unsure = false; // of these two: the server has not said
let stateRead = Promise.resolve(); // until they are known
let asking = false;
let era = 0; // moves on with each sign-in and sign-out: what was under way before means nothing after
let renewing: Promise<Renewal> | null = null;
const listeners = new Set<() => void>();

function become(next: Session): void {
  session = next;
  void keepChoices(next.state === 'signed_in' && next.by === 'password' ? next.person : null);
  listeners.forEach((listener) => listener());
}

let keeping: Person | null = null;
let chooser: string | null = null; // the user whose choices are not written yet, also after their session
let stopKeeping = () => {};

async function keepChoices(person: Person | null): Promise<void> {
  if (person === keeping) return;
  if (person !== null && chooser !== null && chooser !== person.user_id) forgetChosen(); // another user
  chooser = person?.user_id ?? chooser;
  keeping = person;
  stopKeeping();
  stopKeeping = () => {};
  if (!person?.preferences) return;
  const { keepPreferences } = await import('./preference_sync').catch(() => ({ keepPreferences: null }));
  if (keepPreferences === null)
    keeping = null; // not to be had now
  else if (person === keeping) stopKeeping = keepPreferences(person.preferences, writePreferences);
}

export const authorization = () => (bearer ? 'Bearer ' + bearer : '');
export const useSession = () =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => session,
  );

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
  try {
    const response = await stateAnswer();
    const state = response.ok ? ((await response.json()) as { setup_needed: boolean }) : null;
    unsure = state === null && response.status !== 404;
    users = state !== null || unsure;
    setupNeeded = Boolean(state?.setup_needed);
  } catch {
    [unsure, users, setupNeeded] = [true, true, false];
  }
}

// Choices that no server knows yet are kept until the user comes back, unless they signed out themselves. Choices made
// under a token are dropped.
function leave(expired: boolean, byUser = !expired): void {
  if (byUser || (session.state === 'signed_in' && session.by === 'token')) forgetChosen();
  become({ state: 'signed_out', users, setupNeeded, expired });
  if (unsure && !asking) void askAgain();
}

async function askAgain(): Promise<void> {
  asking = true;
  while (unsure && session.state === 'signed_out') {
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    await readState();
  }
  asking = false;
  if (session.state === 'signed_out') become({ ...session, users, setupNeeded });
}

// Once, when the console is opened. A server that does not answer is no reason to sign in again: what is here is
// believed until it says otherwise.
export async function start(): Promise<void> {
  const token = storedToken();
  if (token) {
    await readState();
    bearer = token;
    become({ state: 'signed_in', by: 'token', person: await whoAmI() });
    return;
  }
  stateRead = readState();
  // At once with that one: each answer waits for a thread that has a page to load.
  const renewal = hasSession() ? await refresh() : 'ended';
  if (renewal === 'renewed') return;
  await stateRead;
  if (renewal === 'ended' || !users) leave(false);
  else become({ state: 'signed_in', by: 'password', person: null });
}

async function writePreferences(change: Partial<KeptPreferences>): Promise<boolean> {
  const patch = () =>
    ask('PATCH', 'auth/me', {
      headers: { Authorization: authorization(), 'Content-Type': 'application/json' },
      body: JSON.stringify({ preferences: change }),
      keepalive: true, // also where the page is closed right after
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

// What a session is answered with that begins or goes on. A server of before says less of the user: then it is asked.
export interface Begun {
  access_token: string;
  user?: Partial<Person>;
}
const personOf = async (user: Begun['user']): Promise<Person | null> =>
  user?.permissions ? (user as Person) : whoAmI();

async function whoAmI(): Promise<Person | null> {
  await stateRead;
  if (!users) return null;
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
  const of = era;
  return inTurn(() => exchange(of));
}

async function exchange(of: number): Promise<Renewal> {
  if (of !== era) return 'not_now';
  let known: Begun['user'];
  try {
    const response = await refreshAnswer();
    if (of !== era) return 'not_now';
    if (response.status === 401 || response.status === 403) {
      noteSession(false);
      return 'ended';
    }
    if (!response.ok) return 'not_now';
    const begun = (await response.json()) as Begun;
    if (of !== era) return 'not_now';
    bearer = begun.access_token;
    known = begun.user;
  } catch {
    return 'not_now';
  }
  if (session.state !== 'signed_in' || session.person === null) {
    const person = await personOf(known);
    if (of !== era) return 'not_now';
    become({ state: 'signed_in', by: 'password', person });
  }
  return 'renewed';
}

// Somebody came in by an API token, or by a password with its access token.
export async function entered(by: 'token' | 'password', token: string, user?: Begun['user']): Promise<void> {
  era += 1;
  bearer = token;
  if (by === 'token') {
    storeToken(token);
    forgetChosen();
    chooser = null;
  } else {
    noteSession(true);
  }
  become({ state: 'signed_in', by, person: await personOf(user) });
}

export const setUpDone = () => {
  setupNeeded = false;
};
// The same session goes on with another access token.
export const goOnWith = (token: string) => {
  bearer = token;
};

// What a request goes with.
export interface Pass {
  era: number;
  bearer: string;
}
export const pass = (): Pass => ({ era, bearer });

// After a 401 to a request that went with `sent`: true when it is worth another try. Several at once share one renewal,
// also those that are answered when it is over; nothing is sent again for whoever came in since.
export async function renew(sent: Pass): Promise<boolean> {
  if (session.state !== 'signed_in' || sent.era !== era) return false;
  if (sent.bearer !== bearer) return true;
  if (session.by === 'password') {
    renewing ??= refresh().finally(() => {
      renewing = null;
    });
    const of = era;
    const renewal = await renewing;
    if (renewal !== 'ended' || of !== era) return renewal === 'renewed' && of === era;
  }
  bearer = '';
  storeToken('');
  leave(true);
  return false;
}

// They share one cookie: without its session nothing here can be renewed, and whoever left may have left for good.
addEventListener('storage', ({ key, newValue }) => {
  if (key !== SESSION_KEY || newValue !== null || session.state !== 'signed_in' || session.by !== 'password')
    return;
  era += 1;
  bearer = '';
  leave(false, false);
});

export async function signOut(): Promise<void> {
  const password = session.state === 'signed_in' && session.by === 'password';
  const had = authorization();
  const of = ++era;
  bearer = '';
  storeToken('');
  leave(false);
  if (!password) return;
  noteSession(false);
  try {
    // After a renewal that is under way: a session ends by its cookie, which that one exchanges.
    await renewing;
    await inTurn(async () => {
      // Whoever came in meanwhile has that cookie now.
      if (of === era)
        await ask('POST', 'auth/logout', { headers: { Authorization: had, 'X-Carillon-Refresh': '1' } });
    });
  } catch {
    // The access token ends by itself within minutes.
  }
}

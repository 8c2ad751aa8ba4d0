// First requests of an opened console: whether anybody can sign in here, and an access token for the
// session. `askEarly` sends them before the rest of the program runs, which on a slow device takes longer
// than the server needs to answer; therefore this file imports next to nothing.
import { apiUrl } from '../api/url';
import { hasSession, storedToken } from './token_storage';

// A server whose host is gone says nothing, and TCP waits for it for minutes: pages would stand still.
export const READ_LONGEST_MS = 30_000;

export async function ask(method: string, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(apiUrl(path), { method, cache: 'no-store', credentials: 'same-origin', ...init });
}

// One at a time, over all tabs, of what sets or spends the cookie: one that was exchanged already ends the
// session (except for a page that is left before the answer came, which the server allows for), and a late
// answer to one's renewal would put its cookie over the next one's.
export async function inTurn<T>(act: () => Promise<T>): Promise<T> {
  return navigator.locks ? navigator.locks.request('carillon.refresh', act) : act();
}

const askState = () => ask('GET', 'auth/state', { signal: AbortSignal.timeout(READ_LONGEST_MS) });
const askRefresh = () => ask('POST', 'auth/refresh', { headers: { 'X-Carillon-Refresh': '1' } });

let state: Promise<Response> | null = null;
let refresh: Promise<Response> | null = null;

export function askEarly(): void {
  state = askState();
  if (!storedToken() && hasSession()) refresh = inTurn(askRefresh);
  // Whoever takes the answer is told of the failure too.
  for (const asked of [state, refresh]) asked?.catch(() => {});
}

// The answers of what was asked early are taken once.
export async function stateAnswer(): Promise<Response> {
  const asked = state;
  state = null;
  return asked ?? askState();
}
// In turn: of whoever calls it.
export async function refreshAnswer(): Promise<Response> {
  const asked = refresh;
  refresh = null;
  return asked ?? askRefresh();
}

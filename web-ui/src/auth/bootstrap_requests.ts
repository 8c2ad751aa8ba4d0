// First requests of an opened console: whether the server has users, and an access token for the session.
// `askEarly` sends them before the rest of the program is loaded, because on a slow device loading takes
// longer than the server's response. Therefore this file imports as little as possible.
import { apiUrl } from '../api/url';
import { hasSession, storedToken } from './token_storage';

// Reads are aborted after this time. A server whose host is down does not answer at all, and TCP
// waits for minutes, so pages would stay unchanged.
export const READ_LONGEST_MS = 30_000;

export async function ask(method: string, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(apiUrl(path), { method, cache: 'no-store', credentials: 'same-origin', ...init });
}

// Runs requests that set or spend the refresh cookie one after the other, over all tabs. Presenting
// a cookie that has already been exchanged ends the session (except shortly after a lost response),
// and a late response to a renewal would replace a newer cookie.
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
  // Avoids reports of unhandled rejections: the code that takes the response handles the error.
  for (const asked of [state, refresh]) asked?.catch(() => {});
}

// The response to an early request is used once; later calls send a new request.
export async function stateAnswer(): Promise<Response> {
  const asked = state;
  state = null;
  return asked ?? askState();
}
// The caller must hold inTurn().
export async function refreshAnswer(): Promise<Response> {
  const asked = refresh;
  refresh = null;
  return asked ?? askRefresh();
}

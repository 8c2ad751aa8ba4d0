// Sends the first requests of an opened console: whether the server has users, and an access token for the
// session. `askEarly` sends the requests before the rest of the program is loaded, because on a slow device
// loading takes longer than the server's response. Therefore this file imports as little as possible.
import { READ_LONGEST_MS, apiUrl } from '../api/url';
import { hasSession, storedToken } from './token_storage';

export async function ask(method: string, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(apiUrl(path), { method, cache: 'no-store', credentials: 'same-origin', ...init });
}

// Runs requests that set or use the refresh cookie one after the other, over all tabs of the browser. A
// cookie works once: if it is sent a second time, the server ends the session, unless this is shortly after a
// lost response. A late response to a renewal would also replace a newer cookie.
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
  // Prevents reports of unhandled rejections. The code that takes the response handles the error.
  for (const asked of [state, refresh]) asked?.catch(() => {});
}

// Returns the response to the early request once. Later calls send a new request.
export async function stateAnswer(): Promise<Response> {
  const asked = state;
  state = null;
  return asked ?? askState();
}
// Like stateAnswer, for the renewal of the access token. Must be called within inTurn().
export async function refreshAnswer(): Promise<Response> {
  const asked = refresh;
  refresh = null;
  return asked ?? askRefresh();
}

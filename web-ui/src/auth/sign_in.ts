// Signs in with an API token, with a name and password, or by the one-time setup link. Also changes
// the password.
import type { Problem } from '../api/types';
import { problemText } from '../i18n/problems';
import { ask, inTurn } from './bootstrap_requests';
import {
  authorization,
  entered,
  replaceToken,
  currentCredential,
  renew,
  setUpDone,
  type Begun,
} from './session';

// `detail` is the server's explanation, as text.
export interface SignInResult {
  outcome: 'ok' | 'refused' | 'unreachable' | 'unavailable';
  detail?: string;
  pointer?: string; // JSON pointer of the field that `detail` is about
}

async function resultOf(response: Response): Promise<SignInResult> {
  if (response.ok) return { outcome: 'ok' };
  const refused = response.status >= 400 && response.status < 500;
  let detail: string | undefined;
  let pointer: string | undefined;
  try {
    const problem = (await response.json()) as Partial<Problem>;
    const field = problem.errors?.[0];
    detail =
      (field
        ? problemText('field', field.code, field.detail)
        : problemText('problem', problem.code ?? '', problem.detail ?? '')) || undefined;
    pointer = field?.pointer;
  } catch {
    // The body of the response is no problem document, so only the status is known.
  }
  return { outcome: refused ? 'refused' : 'unavailable', detail, pointer };
}

export async function signInWithToken(token: string): Promise<SignInResult> {
  try {
    // An HTTP header cannot carry such characters, so the token is invalid at every server.
    if (!/^[\x21-\x7e]+$/.test(token)) return { outcome: 'refused' };
    const response = await ask('GET', 'jobs?page_size=1', { headers: { Authorization: 'Bearer ' + token } });
    const result = await resultOf(response);
    if (result.outcome !== 'ok') return result;
  } catch {
    return { outcome: 'unreachable' };
  }
  await entered('token', token);
  return { outcome: 'ok' };
}

export async function signInWithPassword(name: string, password: string): Promise<SignInResult> {
  return enter('auth/login', { name, password });
}

// Creates the first administrator. The one-time token of the setup link permits this.
export async function setUp(token: string, name: string, password: string): Promise<SignInResult> {
  const result = await enter('auth/setup', { setup_token: token, name, password });
  if (result.outcome === 'ok') setUpDone();
  return result;
}

async function enter(path: string, body: object): Promise<SignInResult> {
  let begun;
  try {
    const response = await inTurn(() =>
      ask('POST', path, {
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
    );
    const result = await resultOf(response);
    if (result.outcome !== 'ok') return result;
    begun = (await response.json()) as Begun;
  } catch {
    return { outcome: 'unreachable' };
  }
  await entered('password', begun.access_token, begun.user);
  return { outcome: 'ok' };
}

// Changes the password of the signed-in user. The server ends all other sessions of the user. The
// session of this browser continues with a new token.
export async function changePassword(old: string, next: string): Promise<SignInResult> {
  const body = JSON.stringify({ old_password: old, new_password: next });
  const post = () =>
    ask('POST', 'auth/password', {
      headers: { Authorization: authorization(), 'Content-Type': 'application/json' },
      body,
    });
  try {
    const sent = currentCredential();
    let response = await post();
    if (response.status === 401 && (await renew(sent))) response = await post();
    const result = await resultOf(response);
    if (result.outcome === 'ok')
      replaceToken(((await response.json()) as { access_token: string }).access_token);
    return result;
  } catch {
    return { outcome: 'unreachable' };
  }
}

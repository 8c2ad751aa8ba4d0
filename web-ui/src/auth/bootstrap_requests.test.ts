// Tests of the first requests of an opened console, and of the code that takes their responses.
import { beforeEach, describe, expect, it, vi } from 'vitest';

const PERSON = {
  kind: 'user',
  user_id: 'user-1',
  name: 'ada',
  display_name: '',
  role: 'user',
  permissions: ['read'],
};
const answers: Record<string, number | object> = {};
const asked: string[] = [];

beforeEach(() => {
  vi.resetModules(); // each test opens a console
  localStorage.clear();
  sessionStorage.clear();
  asked.length = 0;
  Object.keys(answers).forEach((path) => delete answers[path]);
  Object.assign(answers, { 'auth/state': { setup_needed: false }, 'auth/me': PERSON });
  vi.stubGlobal('fetch', (url: string) => {
    const path = new URL(url).pathname.slice('/api/'.length);
    asked.push(path);
    const answer = answers[path];
    if (answer === undefined) return Promise.reject(new TypeError('Failed to fetch'));
    return Promise.resolve(
      typeof answer === 'number' ? new Response(null, { status: answer }) : Response.json(answer),
    );
  });
});

// Sends the first requests and then starts the session, as main.tsx does. Returns the session.
async function opened() {
  const { askEarly } = await import('./bootstrap_requests');
  askEarly();
  await Promise.resolve();
  const early = [...asked];
  const session = await import('./session');
  await session.start();
  const { renderHook } = await import('@testing-library/react');
  return {
    early,
    session: renderHook(() => session.useSession()).result.current,
    authorization: session.authorization(),
  };
}

describe('a console that is opened', () => {
  it('a console with a session asks at once, once, and learns whose session it is', async () => {
    localStorage.setItem('carillon.session', '1');
    answers['auth/refresh'] = { access_token: 'renewed', user: PERSON };
    const { early, session, authorization } = await opened();
    expect(early).toEqual(['auth/state', 'auth/refresh']);
    expect(asked).toEqual(early);
    expect(session).toEqual({ state: 'signed_in', by: 'password', person: PERSON });
    expect(authorization).toBe('Bearer renewed');
  });

  it('a console asks auth/me when an older server leaves the person out of a renewal', async () => {
    localStorage.setItem('carillon.session', '1');
    answers['auth/refresh'] = {
      access_token: 'renewed',
      user: { user_id: 'user-1', name: 'ada', display_name: '', role: 'user' },
    };
    const { session } = await opened();
    expect(asked).toEqual(['auth/state', 'auth/refresh', 'auth/me']);
    expect(session).toMatchObject({ state: 'signed_in', person: PERSON });
  });

  it('a console renews nothing without a session, or when this tab has a token', async () => {
    expect((await opened()).session).toMatchObject({ state: 'signed_out', users: true });
    expect(asked).toEqual(['auth/state']);
    vi.resetModules();
    localStorage.setItem('carillon.session', '1');
    sessionStorage.setItem('carillon.token', 'of-a-program');
    asked.length = 0;
    const { session, authorization } = await opened();
    expect(asked).toEqual(['auth/state', 'auth/me']);
    expect(session).toMatchObject({ state: 'signed_in', by: 'token' });
    expect(authorization).toBe('Bearer of-a-program');
  });

  it('a console keeps its session while the server is away, and drops one that is refused', async () => {
    localStorage.setItem('carillon.session', '1');
    delete answers['auth/state'];
    expect((await opened()).session).toEqual({ state: 'signed_in', by: 'password', person: null });
    expect(localStorage.getItem('carillon.session')).toBe('1');
    vi.resetModules();
    Object.assign(answers, { 'auth/state': { setup_needed: false }, 'auth/refresh': 401 });
    expect((await opened()).session).toMatchObject({ state: 'signed_out', expired: false });
    expect(localStorage.getItem('carillon.session')).toBeNull();
  });

  it('a console reuses each early answer only once', async () => {
    localStorage.setItem('carillon.session', '1');
    answers['auth/refresh'] = { access_token: 'first', user: PERSON };
    await opened();
    const { currentCredential, renew, authorization } = await import('./session');
    answers['auth/refresh'] = { access_token: 'second', user: PERSON };
    expect(await renew(currentCredential())).toBe(true);
    expect(authorization()).toBe('Bearer second');
    expect(asked.filter((path) => path === 'auth/refresh')).toHaveLength(2);
  });
});

import { act, cleanup, render, renderHook, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { call } from '../api/client';
import SignInPage from './sign_in_page';
import { authorization, entered, signOut, start, useSession, type Session } from './session';

// Mocked responses by path: a status, or a body with status 200. If a path has no entry, the server
// does not answer.
const answers: Record<string, number | object | Promise<object>> = {};
const asked: string[] = [];
const count = (path: string) => asked.filter((one) => one === path).length;

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
  sessionStorage.clear();
  asked.length = 0;
  Object.keys(answers).forEach((path) => delete answers[path]);
  vi.stubGlobal('fetch', (url: string, init: { headers?: Record<string, string> }) => {
    const path = new URL(url).pathname.slice('/api/'.length);
    asked.push(path);
    const answer =
      path === 'runs' && init.headers?.Authorization === 'Bearer renewed' ? { items: [] } : answers[path];
    if (answer === undefined) return Promise.reject(new TypeError('Failed to fetch'));
    return Promise.resolve(answer).then((one) =>
      typeof one === 'number' ? new Response(null, { status: one }) : Response.json(one),
    );
  });
});
afterEach(async () => {
  cleanup();
  Object.assign(answers, { 'auth/state': 404, 'auth/logout': 204 });
  await signOut();
  await vi.advanceTimersByTimeAsync(10_000);
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const PERSON = { name: 'ada', role: 'user', permissions: ['read'] };
const session = (): Session => renderHook(() => useSession()).result.current;
async function signedIn() {
  Object.assign(answers, { 'auth/state': { setup_needed: false }, 'auth/me': PERSON, runs: 401 });
  await start();
  await entered('password', 'ended');
}

describe('a renewal', () => {
  it.each([
    ['busy', 429],
    ['broken', 500],
    ['away', 503],
    ['not reachable', undefined],
  ])(
    'a renewal that fails because the server is %s keeps the session and is retried by the next request',
    async (_, status) => {
      await signedIn();
      if (status) answers['auth/refresh'] = status;
      await expect(call('GET', 'runs')).rejects.toMatchObject({ status: 401 });
      expect(session()).toMatchObject({ state: 'signed_in', by: 'password' });
      expect(localStorage.getItem('carillon.session')).toBe('1');
      answers['auth/refresh'] = { access_token: 'renewed' };
      await call('GET', 'runs');
      expect(count('auth/refresh')).toBe(2);
    },
  );

  it.each([401, 403])('a renewal refused with %i ends the session', async (status) => {
    await signedIn();
    answers['auth/refresh'] = status;
    await expect(call('GET', 'runs')).rejects.toMatchObject({ status: 401 });
    expect(session()).toMatchObject({ state: 'signed_out', expired: true });
    expect(localStorage.getItem('carillon.session')).toBeNull();
  });

  it('a console that opens while the server is away keeps the session and learns the person later', async () => {
    localStorage.setItem('carillon.session', '1');
    Object.assign(answers, { 'auth/state': 503, 'auth/refresh': 503, runs: 401 });
    await start();
    expect(session()).toEqual({ state: 'signed_in', by: 'password', person: null });
    Object.assign(answers, { 'auth/refresh': { access_token: 'renewed' }, 'auth/me': PERSON });
    await call('GET', 'runs');
    expect(session()).toMatchObject({ state: 'signed_in', person: PERSON });
  });
});

describe('a sign-out', () => {
  // Starts a request that waits for a renewal. Returns a function that answers the renewal.
  async function renewing() {
    await signedIn();
    let answer: (body: object) => void = () => {};
    Object.assign(answers, {
      'auth/refresh': new Promise<object>((resolve) => {
        answer = resolve;
      }),
      'auth/logout': 204,
    });
    const request = expect(call('GET', 'runs')).rejects.toMatchObject({ status: 401 });
    await vi.advanceTimersByTimeAsync(0);
    expect(count('auth/refresh')).toBe(1);
    return { request, answer };
  }

  it('a sign-out during a renewal wins and ends the renewed session', async () => {
    const { request, answer } = await renewing();
    const leaving = signOut();
    expect(session()).toMatchObject({ state: 'signed_out', expired: false });
    expect(count('auth/logout')).toBe(0); // signing out waits, because the renewal replaces the cookie
    answer({ access_token: 'renewed' });
    await Promise.all([leaving, request]);
    expect(session()).toMatchObject({ state: 'signed_out', expired: false });
    expect(localStorage.getItem('carillon.session')).toBeNull();
    expect([count('auth/logout'), authorization()]).toEqual([1, '']);
  });

  it('a late sign-out does not sign out the next person', async () => {
    const { request, answer } = await renewing();
    const leaving = signOut();
    await entered('password', 'of somebody else');
    answer({ access_token: 'renewed' });
    await Promise.all([leaving, request]);
    expect(session()).toMatchObject({ state: 'signed_in' });
    expect([count('auth/logout'), authorization()]).toEqual([0, 'Bearer of somebody else']);
  });
});

describe('the sign-in page', () => {
  function Page() {
    const current = useSession();
    return current.state === 'signed_out' ? <SignInPage session={current} /> : null;
  }
  const form = () =>
    screen.queryByLabelText('Password')
      ? 'password'
      : screen.queryByLabelText('API token')
        ? 'token'
        : 'none';
  const both = () => screen.queryByRole('button', { name: 'Sign in with an API token' }) !== null;

  it.each([500, 503, 429, undefined])(
    'the sign-in page assumes users and asks again while auth/state answers %s',
    async (status) => {
      if (status) answers['auth/state'] = status;
      await start();
      render(<Page />);
      expect([form(), both()]).toEqual(['password', true]);
      await act(() => vi.advanceTimersByTimeAsync(5000));
      expect([form(), count('auth/state')]).toEqual(['password', 2]);
      answers['auth/state'] = { setup_needed: true };
      await act(() => vi.advanceTimersByTimeAsync(5000));
      expect(form()).toBe('token');
      expect(session()).toMatchObject({ users: true, setupNeeded: true });
      await act(() => vi.advanceTimersByTimeAsync(60_000));
      expect(count('auth/state')).toBe(3);
    },
  );

  it('the sign-in page offers only a token when auth/state answers 404', async () => {
    await start();
    render(<Page />);
    answers['auth/state'] = 404;
    await act(() => vi.advanceTimersByTimeAsync(5000));
    expect([form(), both()]).toEqual(['token', false]);
    expect(session()).toMatchObject({ users: false });
  });
});

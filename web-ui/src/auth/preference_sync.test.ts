import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { preferencesFrom } from './preference_sync';
import { authorization, entered, signOut, start } from './session';
import { preferences, setPreferences } from '../lib/preferences';
import { HttpResponse, at, http, server } from '../../test_support/server';

const NONE = { language: null, theme: null, time: null };
const patches: unknown[] = [];

function answerMe(more: object): void {
  server.use(
    http.get(at('auth/state'), () => HttpResponse.json({ setup_needed: false })),
    http.get(at('auth/me'), () =>
      HttpResponse.json({
        kind: 'user',
        user_id: 'user-1',
        name: 'anna',
        display_name: '',
        role: 'user',
        permissions: ['read'],
        ...more,
      }),
    ),
    http.patch(at('auth/me'), async ({ request }) => {
      patches.push([request.headers.get('Authorization'), await request.json()]);
      return HttpResponse.json({});
    }),
    http.post(at('auth/refresh'), () => new HttpResponse(null, { status: 401 })),
    http.post(at('auth/logout'), () => new HttpResponse(null, { status: 204 })),
  );
}
const signIn = async (by: 'token' | 'password', more: object, bearer = 'bearer') => {
  answerMe(more);
  await start();
  await entered(by, bearer);
};
const written = (bearer: string, stored: object) => ['Bearer ' + bearer, { preferences: stored }];

beforeEach(() => {
  patches.length = 0;
  sessionStorage.clear();
  localStorage.removeItem('carillon.session');
  setPreferences({ language: 'en', theme: 'system', time: 'utc' });
});
afterEach(async () => {
  await signOut();
  setPreferences({ language: 'en', theme: 'system', time: 'utc' });
});

it('stored preferences apply here without unset and unknown values', () => {
  expect(preferencesFrom({ language: 'zh-CN', theme: null, time: 'stardate' })).toEqual({
    language: 'zh-CN',
  });
});

describe('a person who signs in by a password', () => {
  it('a sign-in by password takes over stored preferences without writing them again', async () => {
    await signIn('password', { preferences: { ...NONE, theme: 'dark' } });
    expect(preferences()).toMatchObject({ theme: 'dark', language: 'en', time: 'utc' });
    setPreferences({ theme: 'dark', wrap: true, zone: 'Asia/Tokyo' });
    setPreferences({ wrap: false, zone: '' });
    expect(patches).toEqual([]);
  });

  it('a signed-in person’s choices are written one after the other until sign-out', async () => {
    await signIn('password', { preferences: NONE });
    setPreferences({ theme: 'light' });
    setPreferences({ theme: 'dark', time: 'job' });
    await vi.waitFor(() =>
      expect(patches).toEqual([
        written('bearer', { theme: 'light' }),
        written('bearer', { theme: 'dark', time: 'job' }),
      ]),
    );
    await signOut();
    setPreferences({ theme: 'light' });
    await signIn('password', { preferences: { ...NONE, theme: 'system' } }, 'another');
    expect(preferences().theme).toBe('system');
    setPreferences({ language: 'zh-CN' });
    await vi.waitFor(() => expect(patches[2]).toEqual(written('another', { language: 'zh-CN' })));
  });

  it('this browser keeps a choice that could not be written', async () => {
    await signIn('password', { preferences: NONE });
    server.use(http.patch(at('auth/me'), () => HttpResponse.error(), { once: true }));
    setPreferences({ theme: 'dark' });
    setPreferences({ time: 'job' });
    await vi.waitFor(() => expect(patches).toEqual([written('bearer', { time: 'job' })]));
    expect(preferences().theme).toBe('dark');
  });

  it('a choice is written as its author’s even after somebody else has signed in', async () => {
    await signIn('password', { preferences: NONE }, 'of anna');
    let tell = () => {};
    const asked = new Promise<void>((resolve) => {
      server.use(
        http.patch(
          at('auth/me'),
          async () => {
            resolve();
            await new Promise<void>((go) => (tell = go));
            return new HttpResponse(null, { status: 401 });
          },
          { once: true },
        ),
      );
    });
    setPreferences({ theme: 'dark' });
    setPreferences({ time: 'job' });
    await asked;
    await signOut();
    await signIn('password', { user_id: 'user-2', preferences: NONE }, 'of bert');
    tell();
    await vi.waitFor(() => expect(patches).toEqual([written('of anna', { time: 'job' })]));
    expect(authorization()).toBe('Bearer of bert');
  });
});

it.each([
  ['by a token', 'token', { preferences: { ...NONE, time: 'job' } }],
  ['at a server that stores none', 'password', {}],
] as const)('preferences stay in this browser for a session %s', async (_, by, more) => {
  await signIn(by, more);
  setPreferences({ theme: 'dark' });
  expect(preferences().time).toBe('utc');
  expect(patches).toEqual([]);
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keepPreferences, takenFrom } from './preference_sync';
import { authorization, entered, signOut, start } from './session';
import { forgetChosen, preferences, setPreferences, takePreferences } from '../lib/preferences';
import { HttpResponse, at, http, server } from '../../test_support/server';

const NONE = { language: null, theme: null, time: null };
let stop = () => {};
beforeEach(() => {
  takePreferences({ language: 'en', theme: 'system', time: 'utc' });
  forgetChosen();
});
afterEach(() => {
  stop();
  takePreferences({ language: 'en', theme: 'system', time: 'utc' });
});

describe('what is kept with the user', () => {
  it('holds here, without what was not chosen and what is not known here', () => {
    expect(takenFrom({ language: 'zh-CN', theme: null, time: 'stardate' })).toEqual({ language: 'zh-CN' });
    stop = keepPreferences({ ...NONE, theme: 'dark' }, async () => true);
    expect(preferences()).toMatchObject({ theme: 'dark', language: 'en', time: 'utc' });
  });

  it('is written when it is chosen, and nothing else is', async () => {
    const write = vi.fn(async () => true);
    stop = keepPreferences({ ...NONE, theme: 'dark' }, write);
    setPreferences({ wrap: true, zone: 'Asia/Tokyo' });
    setPreferences({ theme: 'dark' });
    expect(write).not.toHaveBeenCalled();
    setPreferences({ theme: 'light' });
    await vi.waitFor(() => expect(write.mock.calls).toEqual([[{ theme: 'light' }]]));
    setPreferences({ wrap: false, zone: '' });
  });

  it('does not go over what was chosen on this page before it came', async () => {
    setPreferences({ theme: 'light' });
    const write = vi.fn(async () => true);
    stop = keepPreferences({ language: 'zh-CN', theme: 'dark', time: null }, write);
    expect(preferences()).toMatchObject({ theme: 'light', language: 'zh-CN' });
    await vi.waitFor(() => expect(write.mock.calls).toEqual([[{ theme: 'light' }]]));
    stop();
    // Saved: a choice that another browser makes after that is the later one.
    stop = keepPreferences({ language: 'zh-CN', theme: 'dark', time: null }, write);
    expect(preferences().theme).toBe('dark');
    expect(write).toHaveBeenCalledTimes(1);
  });

  it('is tried again when it could not be written', async () => {
    vi.useFakeTimers();
    try {
      const write = vi.fn(async () => write.mock.calls.length > 1);
      stop = keepPreferences(NONE, write);
      setPreferences({ theme: 'light' });
      await vi.advanceTimersByTimeAsync(4999);
      expect(write).toHaveBeenCalledTimes(1);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(write.mock.calls).toEqual([[{ theme: 'light' }], [{ theme: 'light' }]]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is written one after the other, so that the last choice is the last one there', async () => {
    const answers: ((done: boolean) => void)[] = [];
    const write = vi.fn(() => new Promise<boolean>((resolve) => answers.push(resolve)));
    stop = keepPreferences(NONE, write);
    setPreferences({ theme: 'light' });
    setPreferences({ theme: 'dark' });
    setPreferences({ time: 'job' });
    expect(write.mock.calls).toEqual([[{ theme: 'light' }]]);
    answers[0]!(true);
    await vi.waitFor(() => expect(write.mock.calls.slice(1)).toEqual([[{ theme: 'dark', time: 'job' }]]));
    // The failed change is sent with the next one.
    answers[1]!(false);
    await Promise.resolve();
    await Promise.resolve();
    setPreferences({ language: 'zh-CN' });
    await vi.waitFor(() =>
      expect(write.mock.calls.at(-1)).toEqual([{ theme: 'dark', time: 'job', language: 'zh-CN' }]),
    );
    stop();
    answers[2]!(true);
    setPreferences({ theme: 'system' });
    expect(write).toHaveBeenCalledTimes(3);
  });
});

describe('signing in', () => {
  const patches: unknown[] = [];
  const me = (more: object) =>
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
        patches.push(await request.json());
        return HttpResponse.json({});
      }),
      http.post(at('auth/logout'), () => new HttpResponse(null, { status: 204 })),
    );
  beforeEach(async () => {
    patches.length = 0;
    sessionStorage.clear();
    localStorage.removeItem('carillon.session');
  });
  afterEach(() => signOut());

  it('by a password takes the choices of another browser, writes those of this one, and stops with signing out', async () => {
    me({ preferences: { ...NONE, time: 'job' } });
    await start();
    await entered('password', 'bearer');
    await vi.waitFor(() => expect(preferences().time).toBe('job'));
    setPreferences({ theme: 'dark' });
    await vi.waitFor(() => expect(patches).toEqual([{ preferences: { theme: 'dark' } }]));
    await signOut();
    setPreferences({ theme: 'light' });
    await entered('password', 'bearer');
    await vi.waitFor(() => expect(patches[1]).toEqual({ preferences: { theme: 'light' } }));
    setPreferences({ time: 'utc' });
    await signOut();
    await entered('password', 'bearer');
    await vi.waitFor(() => expect(preferences().time).toBe('job'));
    expect(patches.filter((one) => JSON.stringify(one).includes('theme')).length).toBe(2);
  });

  describe('after a session that ended before a choice was written', () => {
    const lose = async () => {
      me({ preferences: NONE });
      server.use(
        http.patch(at('auth/me'), () => new HttpResponse(null, { status: 401 })),
        http.post(at('auth/refresh'), () => new HttpResponse(null, { status: 401 })),
      );
      await start();
      await entered('password', 'bearer');
      await import('./preference_sync');
      await new Promise((resolve) => setImmediate(resolve));
      setPreferences({ theme: 'dark' });
      await vi.waitFor(() => expect(authorization()).toBe(''));
      server.resetHandlers();
    };
    it('it is written when the same person comes back', async () => {
      await lose();
      me({ preferences: NONE });
      await entered('password', 'another');
      await vi.waitFor(() => expect(patches).toEqual([{ preferences: { theme: 'dark' } }]));
    });
    it('it is not written to anybody once a token was used', async () => {
      await lose();
      me({ preferences: NONE });
      await entered('token', 'of a script');
      setPreferences({ theme: 'light' });
      await signOut();
      me({ preferences: { ...NONE, theme: 'system' } });
      await entered('password', 'another');
      await vi.waitFor(() => expect(preferences().theme).toBe('system'));
      expect(patches).toEqual([]);
    });
    it('that another tab saw end, it is written when the same person comes back', async () => {
      me({ preferences: NONE });
      server.use(http.patch(at('auth/me'), () => HttpResponse.error()));
      await start();
      await entered('password', 'bearer');
      await import('./preference_sync');
      await new Promise((resolve) => setImmediate(resolve));
      setPreferences({ theme: 'dark' });
      dispatchEvent(new StorageEvent('storage', { key: 'carillon.session', newValue: null }));
      expect(authorization()).toBe('');
      server.resetHandlers();
      me({ preferences: NONE });
      await entered('password', 'another');
      await vi.waitFor(() => expect(patches).toEqual([{ preferences: { theme: 'dark' } }]));
    });
    it('it is not written to somebody else', async () => {
      await lose();
      me({ user_id: 'user-2', name: 'bert', preferences: { ...NONE, theme: 'light' } });
      await entered('password', 'another');
      await vi.waitFor(() => expect(preferences().theme).toBe('light'));
      expect(patches).toEqual([]);
    });
  });

  it.each([
    ['by a token', 'token', { preferences: { ...NONE, time: 'job' } }],
    ['at a server that keeps none', 'password', {}],
  ] as const)('%s leaves them to this browser', async (_, by, more) => {
    me(more);
    await start();
    await entered(by, 'bearer');
    setPreferences({ theme: 'dark' });
    await import('./preference_sync');
    await new Promise((resolve) => setImmediate(resolve));
    expect(preferences().time).toBe('utc');
    expect(patches).toEqual([]);
  });
});

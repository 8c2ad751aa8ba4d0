import { describe, expect, it, vi } from 'vitest';
import {
  STARTING,
  SessionStore,
  newEra,
  withServerState,
  signInPageUpdated,
  signedIn,
  signedOut,
  withBearer,
} from './session_store';

const SERVER = { users: true, setupNeeded: false, unsure: false };

describe('a sign-in', () => {
  it('a sign-in begins a new era with its token, and the next one ends it', () => {
    const entered = newEra(STARTING, 'first');
    expect(entered).toMatchObject({ era: 1, bearer: 'first', session: { state: 'starting' } });
    expect(newEra(signedIn(entered, 'password', null), '')).toMatchObject({ era: 2, bearer: '' });
  });

  it('a renewed token keeps its era', () => {
    const entered = signedIn(newEra(STARTING, 'first'), 'password', null);
    expect(withBearer(entered, 'second')).toEqual({ ...entered, bearer: 'second' });
  });

  it('a sign-out keeps what the server said of its users', () => {
    const ended = signedOut(withServerState(signedIn(STARTING, 'token', null), SERVER), true);
    expect(ended.session).toEqual({ state: 'signed_out', users: true, setupNeeded: false, expired: true });
  });

  it('the sign-in page takes over later news of the server; a signed-in session does not', () => {
    const page = withServerState(signedOut(STARTING, true), SERVER);
    expect(page.session).toMatchObject({ users: false });
    expect(signInPageUpdated(page).session).toMatchObject({ users: true, expired: true });
    const inside = withServerState(signedIn(STARTING, 'token', null), SERVER);
    expect(signInPageUpdated(inside)).toBe(inside);
  });
});

describe('the store', () => {
  it('the store notifies its listeners only when the session changes', () => {
    const store = new SessionStore();
    const listener = vi.fn();
    const stop = store.subscribe(listener);
    store.become(newEra(store.now, 'token'));
    store.become(withServerState(store.now, SERVER));
    expect(listener).not.toHaveBeenCalled();
    store.become(signedIn(store.now, 'token', null));
    expect(listener).toHaveBeenCalledTimes(1);
    expect(store.now).toMatchObject({ era: 1, bearer: 'token', server: SERVER });
    stop();
    store.become(signedOut(store.now, false));
    expect(listener).toHaveBeenCalledTimes(1);
  });
});

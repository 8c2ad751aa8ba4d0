import { describe, expect, it, vi } from 'vitest';
import {
  STARTING,
  SessionStore,
  newEra,
  serverSaid,
  signInPageUpdated,
  signedIn,
  signedOut,
  withBearer,
} from './session_store';

const SERVER = { users: true, setupNeeded: false, unsure: false };

describe('a sign-in', () => {
  it('begins another era and carries its token, and ends with another one', () => {
    const entered = newEra(STARTING, 'first');
    expect(entered).toMatchObject({ era: 1, bearer: 'first', session: { state: 'starting' } });
    expect(newEra(signedIn(entered, 'password', null), '')).toMatchObject({ era: 2, bearer: '' });
  });

  it('goes on in its era with a renewed token', () => {
    const entered = signedIn(newEra(STARTING, 'first'), 'password', null);
    expect(withBearer(entered, 'second')).toEqual({ ...entered, bearer: 'second' });
  });

  it('ends with what the server said of its users', () => {
    const ended = signedOut(serverSaid(signedIn(STARTING, 'token', null), SERVER), true);
    expect(ended.session).toEqual({ state: 'signed_out', users: true, setupNeeded: false, expired: true });
  });

  it('learns on its page what the server says later, and nothing while somebody is signed in', () => {
    const page = serverSaid(signedOut(STARTING, true), SERVER);
    expect(page.session).toMatchObject({ users: false });
    expect(signInPageUpdated(page).session).toMatchObject({ users: true, expired: true });
    const inside = serverSaid(signedIn(STARTING, 'token', null), SERVER);
    expect(signInPageUpdated(inside)).toBe(inside);
  });
});

describe('the store', () => {
  it('tells its listeners of another session, and of nothing else', () => {
    const store = new SessionStore();
    const listener = vi.fn();
    const stop = store.subscribe(listener);
    store.become(newEra(store.now, 'token'));
    store.become(serverSaid(store.now, SERVER));
    expect(listener).not.toHaveBeenCalled();
    store.become(signedIn(store.now, 'token', null));
    expect(listener).toHaveBeenCalledTimes(1);
    expect(store.now).toMatchObject({ era: 1, bearer: 'token', server: SERVER });
    stop();
    store.become(signedOut(store.now, false));
    expect(listener).toHaveBeenCalledTimes(1);
  });
});

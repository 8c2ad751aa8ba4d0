import { renderHook } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import { signOut, useDenied } from './session';
import { statePermits } from './state_permits';
import { signedInAs } from '../../test_support/person';

afterEach(() => signOut());
const denied = () => renderHook(() => useDenied()).result.current;

describe('permitted actions', () => {
  it('an action is allowed when the answer lists it, whoever the owner is', async () => {
    await signedInAs(['jobs:write:own', 'jobs:run:own']);
    const reached = { allowed_actions: ['cancel', 'delete', 'edit', 'execute', 'pause', 'resume', 'revert'] };
    for (const action of reached.allowed_actions) expect(denied()(reached, action), action).toBeUndefined();
    expect(denied()({ allowed_actions: [] }, 'edit')).toBe('denied.own');
    expect(denied()({ allowed_actions: ['execute'] }, 'execute')).toBeUndefined();
    expect(denied()({ allowed_actions: ['execute'] }, 'pause')).toBe('denied.own');
  });
  it('the role decides where an answer lists no actions', async () => {
    await signedInAs(['jobs:run:own']);
    expect(denied()({}, 'retry')).toBeUndefined();
    expect(denied()({}, 'edit')).toBe('denied.write');
  });
  it('an answer cannot allow more than the role, and the role is then the reason', async () => {
    await signedInAs(['read']);
    expect(denied()({ allowed_actions: ['edit'] }, 'edit')).toBe('denied.write');
    expect(denied()({ allowed_actions: [] }, 'cancel')).toBe('denied.write');
  });
  it('an action that the state does not permit is hidden; a denied one is shown', () => {
    expect(statePermits({ allowed_actions: ['cancel', 'execute'] }, 'retry')).toBe(false);
    expect(statePermits({ allowed_actions: ['execute', 'retry'] }, 'retry')).toBe(true);
    expect(statePermits({ allowed_actions: [] }, 'retry')).toBe(true);
    expect(statePermits({}, 'retry')).toBe(true);
  });
});

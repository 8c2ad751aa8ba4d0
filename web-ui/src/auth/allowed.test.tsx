import { renderHook } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import { signOut, useDenied } from './session';
import { statePermits } from '../features/runs/detail/run_text';
import { signedInAs } from '../../test_support/person';

afterEach(() => signOut());
const denied = () => renderHook(() => useDenied()).result.current;

describe('what may be done', () => {
  it('is what the answer lists, whoever it belongs to', async () => {
    await signedInAs(['jobs:write:own', 'jobs:run:own']);
    const reached = { allowed_actions: ['cancel', 'delete', 'edit', 'execute', 'pause', 'resume', 'revert'] };
    for (const action of reached.allowed_actions) expect(denied()(reached, action), action).toBeUndefined();
    expect(denied()({ allowed_actions: [] }, 'edit')).toBe('denied.own');
    expect(denied()({ allowed_actions: ['execute'] }, 'execute')).toBeUndefined();
    expect(denied()({ allowed_actions: ['execute'] }, 'pause')).toBe('denied.own');
  });
  it('is what the role may, where an answer lists nothing', async () => {
    await signedInAs(['jobs:run:own']);
    expect(denied()({}, 'retry')).toBeUndefined();
    expect(denied()({}, 'edit')).toBe('denied.write');
  });
  it('is never more than the role may, and the role is the reason then', async () => {
    await signedInAs(['read']);
    expect(denied()({ allowed_actions: ['edit'] }, 'edit')).toBe('denied.write');
    expect(denied()({ allowed_actions: [] }, 'cancel')).toBe('denied.write');
  });
  it('leaves out what the state does not permit, and shows what is denied', () => {
    expect(statePermits({ allowed_actions: ['cancel', 'execute'] }, 'retry')).toBe(false);
    expect(statePermits({ allowed_actions: ['execute', 'retry'] }, 'retry')).toBe(true);
    expect(statePermits({ allowed_actions: [] }, 'retry')).toBe(true);
    expect(statePermits({}, 'retry')).toBe(true);
  });
});

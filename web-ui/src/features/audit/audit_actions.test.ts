import { expect, test } from 'vitest';
import { en as admin } from './texts.en';
import { AUDIT_ACTIONS } from './audit_actions';

test('the audit filter offers exactly the actions that have a text', () => {
  const named = Object.keys(admin)
    .filter((key) => key.startsWith('action.'))
    .map((key) => key.slice('action.'.length));
  expect([...AUDIT_ACTIONS].toSorted()).toEqual(named.toSorted());
});

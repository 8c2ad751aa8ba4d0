import { expect, test } from 'vitest';
import { en as admin } from './texts.en';
import { AUDIT_ACTIONS } from './audit_actions';

test('each action that has a text can be chosen, and the other way round', () => {
  const named = Object.keys(admin)
    .filter((key) => key.startsWith('action.'))
    .map((key) => key.slice('action.'.length));
  expect([...AUDIT_ACTIONS].toSorted()).toEqual(named.toSorted());
});

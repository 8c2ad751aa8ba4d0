import type { Reachable } from '../api/types';

// False if the state of the object does not allow the action, whoever the user is: a button for it is left out. Its
// allowed_actions are then those of its state. If there are none, the user may not act on it at all: the button is
// shown, and useDenied says why it is disabled.
export function statePermits({ allowed_actions: allowed }: Reachable, action: string): boolean {
  return allowed === undefined || allowed.length === 0 || allowed.includes(action);
}

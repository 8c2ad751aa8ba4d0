import type { Reachable } from '../api/types';

// False if the object's state forbids the action to everybody: its button is left out. If allowed_actions is empty, the
// user may do nothing with the object: the button is shown, and useDenied says why it is disabled.
export function statePermits({ allowed_actions: allowed }: Reachable, action: string): boolean {
  return allowed === undefined || allowed.length === 0 || allowed.includes(action);
}

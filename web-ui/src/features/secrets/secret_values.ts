// Requests about secrets, and the permission to change one. Pure.
import type { Secret } from '../../api/types';
import type { Person } from '../../auth/session';

export interface SecretChange {
  value?: string;
  description?: string;
  shared?: boolean;
}

// Only what differs: whoever does not type a value leaves it as it is.
export function changeOf(secret: Secret, value: string, description: string, shared: boolean): SecretChange {
  return {
    ...(value === '' ? {} : { value }),
    ...(description === secret.description ? {} : { description }),
    ...(shared === secret.shared ? {} : { shared }),
  };
}

// The server decides in any case; without a word from it about the person everything is offered.
export const mayShare = (person: Person | null): boolean =>
  person === null || person.permissions.includes('secrets:write');
export const mayChange = (person: Person | null, secret: Secret): boolean =>
  mayShare(person) ||
  (person!.permissions.includes('secrets:write:own') && person!.user_id === secret.user_id);

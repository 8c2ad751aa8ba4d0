// Bodies of requests about secrets, and the permission to change a secret. Pure.
import type { Secret } from '../../api/types';
import type { Person } from '../../auth/session';

export interface SecretChange {
  value?: string;
  description?: string;
  shared?: boolean;
}

// Returns only the fields that differ. If the value is empty, the stored value stays unchanged.
export function changeOf(secret: Secret, value: string, description: string, shared: boolean): SecretChange {
  return {
    ...(value === '' ? {} : { value }),
    ...(description === secret.description ? {} : { description }),
    ...(shared === secret.shared ? {} : { shared }),
  };
}

// True if the page offers to share or to change the secret. If the user's permissions are unknown, everything
// is offered. The server checks every change.
export const mayShare = (person: Person | null): boolean =>
  person === null || person.permissions.includes('secrets:write');
export const mayChange = (person: Person | null, secret: Secret): boolean =>
  mayShare(person) ||
  (person!.permissions.includes('secrets:write:own') && person!.user_id === secret.user_id);

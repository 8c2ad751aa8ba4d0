// Requests about secrets, and the permission to change one. Pure.
import type { Secret } from '../../api/types';
import type { Person } from '../../auth/session';

export interface SecretChange {
  value?: string;
  description?: string;
  shared?: boolean;
}

// Returns only the members that differ; an empty value leaves the stored one unchanged.
export function changeOf(secret: Secret, value: string, description: string, shared: boolean): SecretChange {
  return {
    ...(value === '' ? {} : { value }),
    ...(description === secret.description ? {} : { description }),
    ...(shared === secret.shared ? {} : { shared }),
  };
}

// The server decides in any case. If the user's permissions are unknown, everything is offered.
export const mayShare = (person: Person | null): boolean =>
  person === null || person.permissions.includes('secrets:write');
export const mayChange = (person: Person | null, secret: Secret): boolean =>
  mayShare(person) ||
  (person!.permissions.includes('secrets:write:own') && person!.user_id === secret.user_id);

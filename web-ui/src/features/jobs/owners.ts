// The users, to whom it is known that they may be read: nothing is asked for in vain.
import { itemsOf, useUsers } from '../../api/queries';
import type { User } from '../../api/types';
import { useSession } from '../../auth/session';

export function useOwners(): { known: boolean; users: User[] } {
  const session = useSession();
  const known =
    session.state === 'signed_in' && (session.person?.permissions.includes('users:manage') ?? false);
  return { known, users: itemsOf(useUsers(known).data) };
}

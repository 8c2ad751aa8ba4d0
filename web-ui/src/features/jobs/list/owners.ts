// The users, to whom it is known that they may be read: nothing is asked for in vain. And an owner's name.
import '../../../i18n/more';
import { itemsOf, useUsers } from '../../../api/queries';
import type { User } from '../../../api/types';
import { useSession } from '../../../auth/session';
import { useTranslation } from '../../../i18n/use_translation';

const GENERATED = /^user-[0-9a-f]{16}$/; // any other user_id is a text that somebody chose
const SHORT = 9;

export function useOwners(): { known: boolean; users: User[] } {
  const session = useSession();
  const known =
    session.state === 'signed_in' && (session.person?.permissions.includes('users:manage') ?? false);
  return { known, users: itemsOf(useUsers(known).data) };
}

// The name of an owner. A generated id says nothing to a person: a caller who may not read the users sees that it is
// somebody else's, one who may sees the beginning of the id of a user who is not in the list.
export function useOwnerText(): (userId: string) => string {
  const { t } = useTranslation();
  const session = useSession();
  const { known, users } = useOwners();
  const names = new Map(users.map((user) => [user.user_id, user.name]));
  const person = session.state === 'signed_in' ? session.person : null;
  if (person?.user_id) names.set(person.user_id, person.name);
  return (userId) => {
    const name = names.get(userId);
    if (name !== undefined || !GENERATED.test(userId)) return name ?? userId;
    return known ? userId.slice(0, SHORT) + '…' : t('jobs.another_user');
  };
}

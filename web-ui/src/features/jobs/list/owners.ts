// The users, requested only if the caller may read them, and the names of owners.
import './texts.en';
import { itemsOf, useUsers } from '../../../api/queries';
import type { User } from '../../../api/types';
import { useSession } from '../../../auth/session';
import { useTranslation } from '../../../i18n/use_translation';

const GENERATED = /^user-[0-9a-f]{16}$/; // any other user_id was chosen by a person
const SHORT = 9;

export function useOwners(): { known: boolean; users: User[] } {
  const session = useSession();
  const known =
    session.state === 'signed_in' && (session.person?.permissions.includes('users:manage') ?? false);
  return { known, users: itemsOf(useUsers(known).data) };
}

// Returns the name to show for an owner. A generated id means nothing to a reader. If the viewer
// may not read the users, it is shown as "somebody else"; otherwise, for a user who is not in the
// list, as the beginning of the id.
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

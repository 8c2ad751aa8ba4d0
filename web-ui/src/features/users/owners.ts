// The users and the names of owners. The users are requested only if the caller may read them.
import '../jobs/list/texts.en';
import { itemsOf, useUsers } from '../../api/queries';
import type { User } from '../../api/types';
import { useSession } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';

const GENERATED = /^user-[0-9a-f]{16}$/; // a person has chosen any other user_id
const SHORT = 9;

export function useOwners(): { known: boolean; users: User[] } {
  const session = useSession();
  const known =
    session.state === 'signed_in' && (session.person?.permissions.includes('users:manage') ?? false);
  return { known, users: itemsOf(useUsers(known).data) };
}

// Returns the text to show for an owner:
// - the name, if it is known;
// - the id, if a person has chosen it;
// - for a generated id "somebody else" if the viewer may not read the users, because the id means nothing to
//   a reader;
// - otherwise the beginning of the generated id.
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

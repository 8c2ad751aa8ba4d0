// Returns the name of an owner, if the viewer may read it.
import './texts.en';
import { itemsOf, useUsers } from '../../api/queries';
import { useMay, useSession } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';

export function useOwnerName(): (userId: string | null) => string {
  const { t } = useTranslation();
  const session = useSession();
  const own = session.state === 'signed_in' ? session.person?.user_id : null;
  const users = new Map(
    itemsOf(useUsers(useMay('users:manage')).data).map((user) => [user.user_id, user.name]),
  );
  return (userId) =>
    userId === null ? t('tokens.nobody') : userId === own ? t('tokens.you') : (users.get(userId) ?? userId);
}

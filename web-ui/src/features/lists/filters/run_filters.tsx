// Filters of runs by trigger and by owner of the job.
import '../../runs/list/texts.en';
import type { User } from '../../../api/types';
import { useSession } from '../../../auth/session';
import { useTranslation } from '../../../i18n/use_translation';
import { useOwnerText } from '../../users/owners';

export const RUN_KINDS = ['cron', 'rate', 'delay', 'after', 'event', 'once', 'manual'] as const;

interface Choice {
  chosen?: string[];
  onChange: (chosen: string[] | undefined) => void;
}

export function KindFilter({ chosen = [], onChange }: Choice) {
  const { t } = useTranslation();
  const value = chosen.join(' ');
  const named = chosen.map((kind) => t(`kind.${kind}`)).join(', ');
  return (
    <select
      className="input w-auto"
      aria-label={t('runs.kind')}
      value={value}
      onChange={(event) => onChange(event.target.value ? event.target.value.split(' ') : undefined)}
    >
      <option value="">{t('runs.any_kind')}</option>
      {chosen.length > 1 && <option value={value}>{named}</option>}
      {RUN_KINDS.map((kind) => (
        <option key={kind} value={kind}>
          {t(`kind.${kind}`)}
        </option>
      ))}
    </select>
  );
}

// Filter by owner. The choices are the caller, each of `users`, and the owner that the URL names.
export function OwnerFilter(props: {
  chosen: string | undefined;
  users?: User[];
  onChange: (user_id: string | undefined) => void;
}) {
  const { t } = useTranslation();
  const ownerOf = useOwnerText();
  const session = useSession();
  const mine = session.state === 'signed_in' ? session.person?.user_id : null;
  const others = (props.users ?? []).filter((one) => one.user_id !== mine);
  if (!mine && !props.chosen && others.length === 0) return null;
  return (
    <select
      className="input w-auto max-w-full"
      aria-label={t('jobs.owner')}
      value={props.chosen ?? ''}
      onChange={(event) => props.onChange(event.target.value || undefined)}
    >
      <option value="">{t('runs.any_owner')}</option>
      {mine && <option value={mine}>{t('runs.mine')}</option>}
      {others.map((one) => (
        <option key={one.user_id} value={one.user_id}>
          {one.name}
        </option>
      ))}
      {props.chosen && props.chosen !== mine && !others.some((one) => one.user_id === props.chosen) && (
        <option value={props.chosen}>{ownerOf(props.chosen)}</option>
      )}
    </select>
  );
}

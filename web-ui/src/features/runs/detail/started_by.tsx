// The run of an upstream job that started a run, with links to both.
import { Link } from '@tanstack/react-router';
import type { Trigger } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { StateBadge } from '../../../ui/state_badge';
import { Time } from '../../../ui/time';

export default function StartedBy({ trigger }: { trigger: Trigger }) {
  const { t } = useTranslation();
  return (
    <span className="grid justify-items-start gap-1 wrap-anywhere">
      <span className="flex flex-wrap items-center gap-2">
        <Link
          to="/runs/$id"
          params={{ id: trigger.run_id }}
          className="link inline-flex min-h-6 items-center"
        >
          {t('run.title', { name: trigger.job_name || trigger.job_id })}
        </Link>
        <StateBadge state={trigger.state} />
      </span>
      <span className="text-xs text-muted">
        <Time at={trigger.fire_time} absolute />
        {' · '}
        <Link
          to="/jobs/$id"
          params={{ id: trigger.job_id }}
          className="link mono inline-flex min-h-6 items-center"
        >
          {trigger.job_id}
        </Link>
      </span>
    </span>
  );
}

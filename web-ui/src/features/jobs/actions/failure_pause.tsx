// Banner of a job that was paused because its runs failed in a row: which ones, and the way out.
import '../detail/texts.en';
import '../list/texts.en';
import { Link } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { itemsOf, useRuns } from '../../../api/queries';
import type { Job } from '../../../api/types';
import { useDenied } from '../../../auth/session';
import { useTranslation } from '../../../i18n/use_translation';
import { useTextOr } from '../../../i18n/text_or';
import { StateBadge } from '../../../ui/state_badge';
import { Time } from '../../../ui/time';
import { useSetEnabled } from './job_actions';
import { zoneOf } from '../../schedule/schedule_text';

const SHOWN = 5;

export default function FailurePause({ job }: { job: Job }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const denied = useDenied()(job, 'resume');
  const setEnabled = useSetEnabled();
  const count = job.pause_after_failures ?? 0;
  const runs = useRuns({ job_id: job.job_id, state: ['FAILED', 'TIMED_OUT'] });
  const failed = itemsOf(runs.data).slice(0, Math.min(count, SHOWN));
  return (
    <div role="status" className="mb-4 rounded-md bg-warn-soft px-4 py-2.5">
      <div className="flex flex-wrap items-center gap-3 text-warn">
        <p className="grow">
          {count > 0
            ? t('jobs.paused_after', { count })
            : t('jobs.paused_because', { reason: job.pause_reason })}
        </p>
        <button
          type="button"
          className="button"
          disabled={denied !== undefined || setEnabled.isPending}
          title={denied && t(denied)}
          onClick={() => setEnabled.mutate({ id: job.job_id, enabled: true })}
        >
          <Play aria-hidden size={15} />
          {t('jobs.resume')}
        </button>
      </div>
      {failed.length > 0 && (
        <ul aria-label={t('jobs.failed_runs')} className="mt-2 grid gap-1">
          {failed.map((run) => (
            <li key={run.run_id} className="flex flex-wrap items-center gap-2">
              <Link to="/runs/$id" params={{ id: run.run_id }} className="link">
                <Time at={run.fire_time} zone={zoneOf(job)} />
              </Link>
              <StateBadge state={run.state} />
              {run.reason && <span className="text-muted">{textOr('reason.', run.reason)}</span>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

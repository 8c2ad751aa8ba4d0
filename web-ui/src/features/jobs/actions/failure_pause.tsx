// Banner of a job that was paused because its runs failed in a row: since when, which ones, and the way out.
import '../detail/texts.en';
import '../list/texts.en';
import { Link } from '@tanstack/react-router';
import { Play, RefreshCw } from 'lucide-react';
import { CALM_MS, itemsOf, useRuns, useVersions } from '../../../api/queries';
import type { Job, JobVersion, Run } from '../../../api/types';
import { useDenied } from '../../../auth/session';
import { useTranslation } from '../../../i18n/use_translation';
import { useTextOr } from '../../../i18n/text_or';
import { StateBadge } from '../../../ui/state_badge';
import { Time } from '../../../ui/time';
import { explain } from '../../../ui/ui';
import { useSetEnabled } from './job_actions';
import { countOf, hasCounted, isPause, COUNTED_KINDS, FAILED_STATES } from './failure_pause_values';
import { zoneOf } from '../../schedule/schedule_text';

const SHOWN = 5;

export default function FailurePause({ job }: { job: Job }) {
  const { t } = useTranslation();
  const denied = useDenied()(job, 'resume');
  const setEnabled = useSetEnabled();
  const count = countOf(job.pause_reason);
  const versions = useVersions(job.job_id);
  const pause = itemsOf(versions.data).find(isPause);
  return (
    <div role="status" className="mb-4 rounded-md bg-warn-soft px-4 py-2.5">
      <div className="flex flex-wrap items-center gap-3 text-warn">
        <p className="grow">
          {count === null
            ? t('jobs.paused_because', { reason: job.pause_reason })
            : t('jobs.paused_after', { count })}
          {pause && (
            <>
              {' '}
              {t('jobs.paused_time')} <Time at={pause.create_time} zone={zoneOf(job)} past />
            </>
          )}
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
      {versions.isPending && <p className="mt-2 text-muted">{t('loading')}</p>}
      {versions.isError && !versions.data && (
        <Failure error={versions.error} onRetry={() => void versions.refetch()} />
      )}
      {pause && <Failed job={job} pause={pause} count={count ?? SHOWN} />}
    </div>
  );
}

// The runs that made the scheduler pause the job, newest first.
function Failed({ job, pause, count }: { job: Job; pause: JobVersion; count: number }) {
  const { t } = useTranslation();
  const runs = useRuns(
    { job_id: job.job_id, state: FAILED_STATES, kind: COUNTED_KINDS, until: pause.create_time },
    CALM_MS,
  );
  if (runs.isPending) return <p className="mt-2 text-muted">{t('loading')}</p>;
  if (!runs.data) return <Failure error={runs.error} onRetry={() => void runs.refetch()} />;
  const failed = itemsOf(runs.data)
    .filter((run) => hasCounted(run, pause))
    .slice(0, count);
  return (
    <>
      {failed.length > 0 && (
        <ul aria-label={t('jobs.failed_runs')} className="mt-2 grid gap-1">
          {failed.slice(0, SHOWN).map((run) => (
            <FailedRun key={run.run_id} run={run} zone={zoneOf(job)} />
          ))}
        </ul>
      )}
      {failed.length !== Math.min(count, SHOWN) && (
        <Link
          to="/jobs/$id"
          params={{ id: job.job_id }}
          search={{ tab: 'runs', state: [...FAILED_STATES] }}
          className="link mt-1 inline-flex min-h-6 items-center"
        >
          {t(failed.length > SHOWN ? 'schedule.more' : 'jobs.all_failed_runs', { n: failed.length - SHOWN })}
        </Link>
      )}
    </>
  );
}

function FailedRun({ run, zone }: { run: Run; zone: string | undefined }) {
  const textOr = useTextOr();
  return (
    <li className="flex flex-wrap items-center gap-2">
      <Link to="/runs/$id" params={{ id: run.run_id }} className="link inline-flex min-h-6 items-center">
        <Time at={run.fire_time} zone={zone} />
      </Link>
      <StateBadge state={run.state} />
      {run.reason && <span className="text-muted">{textOr('reason.', run.reason)}</span>}
    </li>
  );
}

function Failure({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const { t } = useTranslation();
  return (
    <p role="alert" className="mt-2 flex flex-wrap items-center gap-3 text-bad">
      {t('jobs.failed_runs_unknown')} {explain(error, t)}
      <button type="button" className="button" onClick={onRetry}>
        <RefreshCw aria-hidden size={15} />
        {t('empty.retry')}
      </button>
    </p>
  );
}

// Tab with the jobs after which a job starts, and with those that start after it.
import '../detail/texts.en';
import { Link } from '@tanstack/react-router';
import { useDependencies, type Dependency } from '../../../api/dependencies';
import type { Job } from '../../../api/types';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { Card, LoadFailure, Loading } from '../../../ui/ui';

export default function DependenciesTab({ job }: { job: Job }) {
  const { t } = useTranslation();
  const dependencies = useDependencies(job.job_id);
  if (dependencies.isPending) return <Loading />;
  if (!dependencies.data)
    return <LoadFailure error={dependencies.error} onRetry={() => void dependencies.refetch()} />;
  const { upstream, downstream, hidden = 0 } = dependencies.data;
  return (
    <>
      <div className="grid gap-4 lg:grid-cols-2">
        <Card title={t('deps.upstream')}>
          <p className="text-muted">{t(upstream.length > 0 ? 'deps.upstream_hint' : 'deps.no_upstream')}</p>
          <Jobs label={t('deps.upstream')} jobs={upstream} />
        </Card>
        <Card title={t('deps.downstream')}>
          <p className="text-muted">
            {t(downstream.length > 0 ? 'deps.downstream_hint' : 'deps.no_downstream')}
          </p>
          <Jobs label={t('deps.downstream')} jobs={downstream} />
        </Card>
      </div>
      {hidden > 0 && <p className="mt-3 text-muted">{t('deps.hidden', { count: hidden })}</p>}
    </>
  );
}

function Jobs({ label, jobs }: { label: string; jobs: Dependency[] }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  if (jobs.length === 0) return null;
  return (
    <ul aria-label={label} className="mt-2 grid gap-1">
      {jobs.map((job, i) => (
        // oxlint-disable-next-line react/no-array-index-key -- a job may be there twice, and an item has no state
        <li key={i} className="flex min-h-6 flex-wrap items-center gap-x-2 wrap-anywhere">
          {job.deleted ? (
            <span>{job.job_name || job.job_id}</span>
          ) : (
            <Link
              to="/jobs/$id"
              params={{ id: job.job_id }}
              className="link inline-flex min-h-6 items-center"
            >
              {job.job_name || job.job_id}
            </Link>
          )}
          <span className="text-muted">
            {textOr('deps.on_', job.on)}
            {job.deleted && ' · ' + t('deps.deleted')}
          </span>
        </li>
      ))}
    </ul>
  );
}

// Tab with the jobs after which a job starts or for whose runs it waits, and with those that depend on it.
import './texts.en';
import { Link } from '@tanstack/react-router';
import { useDependencies, type Dependency } from '../../../api/dependencies';
import type { Job, UpstreamWait } from '../../../api/types';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { usePreferences } from '../../../lib/preferences';
import { Card, LoadFailure, Loading } from '../../../ui/ui';
import { waitText } from '../waits/waits_text';
import { UsedBy } from './used_by';
import { waitsBehind } from './waits_behind';

export default function DependenciesTab({ job }: { job: Job }) {
  const { t } = useTranslation();
  const dependencies = useDependencies(job.job_id);
  if (dependencies.isPending) return <Loading />;
  if (!dependencies.data)
    return <LoadFailure error={dependencies.error} onRetry={() => void dependencies.refetch()} />;
  const { hidden = 0 } = dependencies.data;
  const upstream = dependencies.data.upstream.filter(isNoNode);
  const downstream = dependencies.data.downstream.filter(isNoNode);
  const users = dependencies.data.downstream.filter(isNode);
  const nodes = dependencies.data.upstream.filter(isNode);
  return (
    <>
      <div className="grid gap-4 lg:grid-cols-2">
        {users.length > 0 && (
          <Card title={t('deps.used_by')}>
            <UsedBy id={job.job_id} workflows={users} />
          </Card>
        )}
        {nodes.length > 0 && (
          <Card title={t('deps.nodes')}>
            <Jobs label={t('deps.nodes')} jobs={nodes} />
          </Card>
        )}
        {/* The cards of one row belong together. */}
        {users.length > 0 !== nodes.length > 0 && <span className="hidden lg:block" />}
        <Card title={t('deps.upstream')}>
          <p className="text-muted">{t(upstream.length > 0 ? 'deps.upstream_hint' : 'deps.no_upstream')}</p>
          <Jobs
            label={t('deps.upstream')}
            jobs={upstream}
            waits={waitsBehind(job.waits_for ?? [], upstream)}
          />
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

const isNode = (one: Dependency) => one.kind === 'node';
const isNoNode = (one: Dependency) => one.kind !== 'node';

// `waits`: what the job waits for, at the place of each job.
function Jobs(props: { label: string; jobs: Dependency[]; waits?: (UpstreamWait | undefined)[] }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const textOr = useTextOr();
  if (props.jobs.length === 0) return null;
  const how = (job: Dependency, wait: UpstreamWait | undefined) => {
    if (job.kind !== 'waits') return textOr('deps.on_', job.on);
    if (!wait) return t('deps.waits_on', { on: textOr('deps.on_', job.on) });
    const fires = waitText(wait, t, language);
    return wait.job === job.job_id
      ? t('deps.waits', { fires })
      : t('deps.waits_node', { fires, node: wait.job });
  };
  return (
    <ul aria-label={props.label} className="mt-2 grid gap-1">
      {props.jobs.map((job, i) => (
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
            {how(job, props.waits?.[i])}
            {job.deleted && ' · ' + t(job.kind === 'waits' ? 'deps.waits_deleted' : 'deps.deleted')}
          </span>
        </li>
      ))}
    </ul>
  );
}

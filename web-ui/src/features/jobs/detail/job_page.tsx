// Page of one job: its next fires, its last runs, its definition.
import '../../gaps/texts.en';
import './texts.en';
import '../../backfills/texts.en';
import '../form/texts.en';
import '../list/texts.en';
import { Link, getRouteApi, useNavigate } from '@tanstack/react-router';
import { Ban, Copy, History, Pause, Pencil, Play, SlidersHorizontal, Trash2, Zap } from 'lucide-react';
import { Suspense, lazy, useState } from 'react';
import { stringify } from 'yaml';
import { itemsOf, useGaps, useJob, useNextFires, useRuns } from '../../../api/queries';
import { RUN_STATES, type Job } from '../../../api/types';
import { useDenied, useMay } from '../../../auth/session';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { span } from '../../../lib/format';
import { early } from '../../../lib/preload';
import { isAwaited, useKnown } from '../../../lib/layout_hold';
import { usePreferences } from '../../../lib/preferences';
import { StateBadge } from '../../../ui/state_badge';
import { Time } from '../../../ui/time';
import {
  Card,
  EmptyMatch,
  EmptyYet,
  Facts,
  LoadFailure,
  Loading,
  MoreButton,
  PageHeader,
  Segments,
  searchedTo,
} from '../../../ui/ui';
import { ExecutorLink } from '../../runs/detail/executor_link';
import { RunTable } from '../../runs/list/run_table';
import { StateFilter } from '../../runs/list/state_filter';
import { repeatedOf } from '../../backfills/backfill_values';
import { DeleteDialog, PauseDialog } from '../actions/pause_delete_dialogs';
import { describeCron, useWords } from './describe';
import { limitsText, scheduleText, zoneOf } from './schedule_text';
import { definitionOf, limitsRuns, queuesRuns } from '../form/form_values';
import { mustAsk } from '../actions/must_ask';
import { useDeleteJob, useRunNow, useSetEnabled } from '../actions/job_actions';
import { LabelLinks } from '../list/label_links';
import { useOwnerText } from '../list/owners';
import { FireList, Skipped } from '../form/preview';
import { TellFact } from './notifications_fact';

const BackfillDialog = lazy(() => import('../../backfills/backfill_dialog'));
const CancelRunsDialog = lazy(() => import('../actions/cancel_runs_dialog'));
const LastRunsCard = early(() => import('./last_runs_card'));
const RunWithDialog = lazy(() => import('../actions/run_with_dialog'));
const Durations = early(() => import('./durations'));
const EndsCard = early(() => import('./outcome_calendar'));
const AuditTab = lazy(() => import('./audit_tab'));
const VersionsTab = lazy(() => import('./versions_tab'));
const QueueCard = lazy(() => import('./queue_card'));
const GroupCard = lazy(() => import('./group_card'));
const WhyTab = lazy(() => import('./why_tab'));
const route = getRouteApi('/jobs/$id');
const FIRES = 10;
const RECENT = 8;

export function JobPage() {
  const { t } = useTranslation();
  const { id } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const job = useJob(id);
  const mayAudit = useMay('audit:read');
  if (job.isPending) return <Loading />;
  if (!job.data)
    return (
      <LoadFailure
        error={job.error}
        onRetry={() => void job.refetch()}
        back={
          <Link to="/jobs" className="button">
            {t('nav.jobs')}
          </Link>
        }
      />
    );
  const tab = search.tab ?? 'overview';
  const data = job.data.data;
  return (
    <>
      <PageHeader
        documentTitle={data.name}
        title={
          <>
            <span>{data.name}</span>
            <StateBadge state={data.state} />
          </>
        }
        under={
          <span className="inline-flex flex-wrap items-center gap-2">
            <span className="mono">{data.job_id}</span>
            <NamespaceLink job={data} />
            <LabelLinks labels={data.labels} />
          </span>
        }
        actions={<Actions job={data} />}
      />
      {data.description && <p className="mb-4 max-w-prose">{data.description}</p>}
      {data.state === 'PAUSED' && (
        <p role="status" className="mb-4 rounded-md bg-warn-soft px-4 py-2.5 text-warn">
          {data.pause_reason ? t('jobs.paused_because', { reason: data.pause_reason }) : t('jobs.is_paused')}
        </p>
      )}
      <div className="mb-4">
        <Segments
          label={t('jobs.views')}
          value={tab}
          choices={[
            { value: 'overview', label: t('jobs.tab_overview') },
            { value: 'runs', label: t('nav.runs') },
            { value: 'configuration', label: t('jobs.tab_configuration') },
            { value: 'versions', label: t('jobs.tab_versions') },
            { value: 'why', label: t('jobs.tab_why') },
            ...(mayAudit ? [{ value: 'audit', label: t('nav.audit') }] : []),
          ]}
          onChange={(next) =>
            void navigate({ search: next === 'overview' ? {} : { tab: next as typeof search.tab } })
          }
        />
      </div>
      {tab === 'overview' && <Overview job={data} />}
      {tab === 'runs' && <Runs job={data} />}
      {tab === 'configuration' && <Configuration job={data} />}
      <Suspense fallback={<Loading />}>
        {tab === 'versions' && <VersionsTab job={data} />}
        {tab === 'why' && <WhyTab job={data} />}
        {tab === 'audit' && <AuditTab job={data} />}
      </Suspense>
    </>
  );
}

// Link to the jobs of the same namespace.
function NamespaceLink({ job }: { job: Job }) {
  const { t } = useTranslation();
  if (!job.namespace) return null;
  return (
    <Link
      to="/jobs"
      search={{ namespace: [job.namespace] }}
      className="link inline-flex min-h-6 items-center"
      title={t('jobs.namespace')}
    >
      {job.namespace}
    </Link>
  );
}

function Actions({ job }: { job: Job }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const may = useMay('jobs:write');
  const denied = useDenied();
  const why = (action: string) => {
    const reason = denied(job, action);
    return { disabled: reason !== undefined, title: reason && t(reason) };
  };
  const runNow = useRunNow();
  const setEnabled = useSetEnabled();
  const remove = useDeleteJob(() => void navigate({ to: '/jobs' }));
  const [dialog, setDialog] = useState<'pause' | 'delete' | 'run_with' | 'backfill' | 'cancel_runs' | null>(
    null,
  );
  const paused = job.state === 'PAUSED';
  const run = why('execute');
  const turn = why(paused ? 'resume' : 'pause');
  return (
    <>
      <button
        type="button"
        {...run}
        className="button button-primary"
        disabled={run.disabled || runNow.isPending}
        onClick={() => (mustAsk(job) ? setDialog('run_with') : runNow.mutate(job.job_id))}
      >
        <Zap aria-hidden size={15} />
        {t('jobs.run')}
      </button>
      <button type="button" {...run} className="button" onClick={() => setDialog('run_with')}>
        <SlidersHorizontal aria-hidden size={15} />
        {t('jobs.run_with')}
      </button>
      {repeatedOf(job).length > 0 && (
        <button type="button" {...why('backfill')} className="button" onClick={() => setDialog('backfill')}>
          <History aria-hidden size={15} />
          {t('backfill.open')}
        </button>
      )}
      <button
        type="button"
        {...turn}
        className="button"
        disabled={turn.disabled || setEnabled.isPending}
        onClick={() => (paused ? setEnabled.mutate({ id: job.job_id, enabled: true }) : setDialog('pause'))}
      >
        {paused ? <Play aria-hidden size={15} /> : <Pause aria-hidden size={15} />}
        {paused ? t('jobs.resume') : t('jobs.pause')}
      </button>
      <Link to="/jobs/$id/edit" params={{ id: job.job_id }} className="button" {...why('edit')}>
        <Pencil aria-hidden size={15} />
        {t('jobs.edit')}
      </Link>
      <Link
        to="/jobs/new"
        search={{ from: job.job_id }}
        className="button"
        disabled={!may}
        title={may ? undefined : t('denied.write')}
      >
        <Copy aria-hidden size={15} />
        {t('jobs.duplicate')}
      </Link>
      <button
        type="button"
        className="button button-danger"
        {...why('cancel')}
        onClick={() => setDialog('cancel_runs')}
      >
        <Ban aria-hidden size={15} />
        {t('jobs.cancel_runs')}
      </button>
      <button
        type="button"
        className="button button-danger"
        {...why('delete')}
        onClick={() => setDialog('delete')}
      >
        <Trash2 aria-hidden size={15} />
        {t('jobs.delete')}
      </button>
      <PauseDialog
        job={dialog === 'pause' ? job : null}
        onClose={() => setDialog(null)}
        onPause={(_job, reason) => setEnabled.mutate({ id: job.job_id, enabled: false, reason })}
      />
      <DeleteDialog
        job={dialog === 'delete' ? job : null}
        onClose={() => setDialog(null)}
        onDelete={() => remove.mutate({ job })}
      />
      {dialog === 'cancel_runs' && (
        <Suspense>
          <CancelRunsDialog job={job} onClose={() => setDialog(null)} />
        </Suspense>
      )}
      {dialog === 'backfill' && (
        <Suspense>
          <BackfillDialog job={job} onClose={() => setDialog(null)} />
        </Suspense>
      )}
      {dialog === 'run_with' && (
        <Suspense>
          <RunWithDialog jobId={job.job_id} name={job.name} onClose={() => setDialog(null)} />
        </Suspense>
      )}
    </>
  );
}

function Overview({ job }: { job: Job }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const textOr = useTextOr();
  useWords(language);
  const fires = useNextFires(job.job_id, FIRES);
  const runs = useRuns({ job_id: job.job_id, page_size: RECENT });
  const gaps = itemsOf(useGaps({ job_id: job.job_id, page_size: 5 }).data);
  const recent = itemsOf(runs.data).slice(0, RECENT);
  const { isKnown, late, tell } = useKnown<'last' | 'durations'>();
  const below = isKnown('last') && (late || !isAwaited(runs));
  return (
    <div className="grid gap-4 xl:grid-cols-[minmax(0,1fr)_400px]">
      <div className="grid min-w-0 content-start gap-4">
        <Suspense>
          <LastRunsCard job={job} onKnown={() => tell('last')} />
        </Suspense>
        <div className={isKnown('last') ? 'contents' : 'hidden'}>
          <Card
            title={t('jobs.recent')}
            flush
            actions={
              <Link to="/jobs/$id" params={{ id: job.job_id }} search={{ tab: 'runs' }} className="link">
                {t('list.all')}
              </Link>
            }
          >
            {runs.isPending ? (
              <Loading />
            ) : runs.isError && recent.length === 0 ? (
              <LoadFailure error={runs.error} onRetry={() => void runs.refetch()} />
            ) : recent.length > 0 ? (
              <RunTable runs={recent} withJob={false} zone={zoneOf(job)} brief />
            ) : (
              <EmptyYet title={t('runs.none')} hint={t('runs.none_hint')} />
            )}
          </Card>
        </div>
        <div className={below ? 'contents' : 'hidden'}>
          <Suspense>
            <Durations job={job} onKnown={() => tell('durations')} />
          </Suspense>
        </div>
        <div className={below && isKnown('durations') ? 'contents' : 'hidden'}>
          <Suspense>
            <EndsCard job={job} />
          </Suspense>
        </div>
        {gaps.length > 0 && (
          <Card
            title={t('gaps.title')}
            actions={
              <Link to="/gaps" search={{ job_id: job.job_id }} className="link">
                {t('list.all')}
              </Link>
            }
          >
            <ul className="grid gap-2">
              {gaps.map((gap) => (
                <li key={gap.schedule_id + gap.from}>
                  {t('gaps.line', { count: gap.count, reason: textOr('reason.', gap.reason) })}{' '}
                  <span className="text-muted">
                    <Time at={gap.from} zone={zoneOf(job)} absolute /> –{' '}
                    <Time at={gap.to} zone={zoneOf(job)} absolute />
                  </span>{' '}
                  <Link
                    to="/jobs/$id"
                    params={{ id: job.job_id }}
                    search={{ tab: 'why', at: gap.from }}
                    className="link"
                  >
                    {t('why.short')}
                  </Link>
                </li>
              ))}
            </ul>
          </Card>
        )}
      </div>
      <div className="grid content-start gap-4">
        <Card title={t('jobs.schedule')}>
          {job.schedules.length === 0 ? (
            <p className="text-muted">{t('schedule.manual')}</p>
          ) : (
            <ul className="mb-3 grid gap-1.5">
              {job.schedules.map((schedule, i) => (
                <li key={i}>
                  <span className="mono">{scheduleText(schedule, t, language)}</span>
                  {schedule.kind === 'cron' && (
                    <span className="block text-muted">
                      {describeCron(schedule.cron_expression, language)} ·{' '}
                      {schedule.time_zone ?? job.time_zone}
                    </span>
                  )}
                  {limitsText(schedule, t, language) !== '' && (
                    <span className="block text-muted">{limitsText(schedule, t, language)}</span>
                  )}
                </li>
              ))}
            </ul>
          )}
          {job.state === 'PAUSED' ? (
            <p className="text-muted">{t('jobs.no_fires_paused')}</p>
          ) : fires.isError ? (
            <LoadFailure error={fires.error} onRetry={() => void fires.refetch()} />
          ) : job.schedules.length > 0 && fires.data ? (
            <>
              <FireList fires={fires.data.items} />
              {(fires.data.skipped?.length ?? 0) > 0 && <Skipped fires={fires.data.skipped!} />}
            </>
          ) : null}
        </Card>
        {queuesRuns(job.overlap_policy) && (
          <Suspense>
            <QueueCard job={job} />
          </Suspense>
        )}
        {job.concurrency_group && (
          <Suspense>
            <GroupCard job={job} group={job.concurrency_group} />
          </Suspense>
        )}
      </div>
    </div>
  );
}

function Runs({ job }: { job: Job }) {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const runs = useRuns({ job_id: job.job_id, state: search.state });
  const items = itemsOf(runs.data);
  const setState = (state: string[] | undefined) =>
    void navigate({ search: (before) => ({ ...before, state }) });
  return (
    <>
      <div className="mb-3">
        <StateFilter states={RUN_STATES} chosen={search.state ?? []} onChange={setState} />
      </div>
      <div className="card overflow-hidden">
        {runs.isPending ? (
          <Loading />
        ) : runs.isError && items.length === 0 ? (
          <LoadFailure error={runs.error} onRetry={() => void runs.refetch()} />
        ) : items.length > 0 ? (
          <RunTable runs={items} withJob={false} zone={zoneOf(job)} />
        ) : searchedTo(runs) ? null : search.state ? (
          <EmptyMatch onClear={() => setState(undefined)} />
        ) : (
          <EmptyYet title={t('runs.none')} hint={t('runs.none_hint')} />
        )}
        <MoreButton query={runs} />
      </div>
    </>
  );
}

function Configuration({ job }: { job: Job }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const ownerOf = useOwnerText();
  const textOr = useTextOr();
  const seconds = (value: number) => (value === 0 ? t('none') : span(value * 1000, language));
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Card title={t('form.what')} className="lg:col-span-2">
        <Facts
          items={[
            [t('form.type'), textOr('option.type.', job.type)],
            ...(job.command === undefined
              ? []
              : [
                  [
                    t('form.command'),
                    <pre key="c" className="mono overflow-x-auto rounded bg-code p-3 whitespace-pre-wrap">
                      {job.command}
                    </pre>,
                  ] as const,
                ]),
            ...(job.namespace ? [[t('jobs.namespace'), <NamespaceLink key="ns" job={job} />] as const] : []),
            [t('jobs.owner'), ownerOf(job.user_id)],
            [t('jobs.version'), 'v' + job.version],
            [t('jobs.changed'), <Time key="u" at={job.update_time} zone={zoneOf(job)} />],
            [t('jobs.created'), <Time key="n" at={job.create_time} zone={zoneOf(job)} />],
          ]}
        />
      </Card>
      <Card title={t('form.where')}>
        <Facts
          items={[
            [
              t('form.executor_selector'),
              <span key="s" className="mono">
                {job.executor_selector || t('anywhere')}
              </span>,
            ],
            [t('form.executor_id'), <ExecutorLink key="e" id={job.executor_id} />],
            [t('form.routing'), textOr('option.routing.', job.routing)],
            [t('form.priority'), job.priority],
          ]}
        />
      </Card>
      <Card title={t('form.on_failure')}>
        <Facts
          items={[
            [t('jobs.timeout'), seconds(job.timeout)],
            [t('jobs.queue_timeout'), seconds(job.queue_timeout)],
            [t('form.retry_count'), job.retry_count],
            [t('jobs.retry_interval'), seconds(job.retry_interval)],
            [t('form.on_lost'), textOr('option.on_lost.', job.on_lost)],
            [t('form.misfire_policy'), textOr('option.misfire_policy.', job.misfire_policy)],
            [t('form.overlap_policy'), textOr('option.overlap_policy.', job.overlap_policy)],
            ...(limitsRuns(job.overlap_policy) && job.max_running !== undefined
              ? [[t('form.max_running'), job.max_running] as const]
              : []),
            ...(job.concurrency_group
              ? [
                  [
                    t('form.concurrency_group'),
                    <Link
                      key="g"
                      to="/groups/$name"
                      params={{ name: job.concurrency_group }}
                      className="link mono"
                    >
                      {job.concurrency_group}
                    </Link>,
                  ] as const,
                ]
              : []),
            ...(job.overlap_policy === 'queue_all' ? [[t('form.queue_max'), job.queue_max] as const] : []),
            [t('tell.fact'), <TellFact key="t" job={job} />],
          ]}
        />
      </Card>
      <Card title="YAML" className="lg:col-span-2">
        <pre className="mono overflow-x-auto whitespace-pre-wrap" data-testid="yaml">
          {stringify(definitionOf(job), { lineWidth: 0 })}
        </pre>
      </Card>
    </div>
  );
}

// Page of one job: its next fires, its last runs, its definition.
import './texts.en';
import '../../backfills/texts.en';
import '../list/texts.en';
import { Link, getRouteApi, useNavigate } from '@tanstack/react-router';
import { Ban, Copy, History, Pause, Pencil, Play, SlidersHorizontal, Trash2, Zap } from 'lucide-react';
import { Suspense, lazy, useState } from 'react';
import { itemsOf, useJob, useRuns } from '../../../api/queries';
import { RUN_STATES, type Job } from '../../../api/types';
import { useDenied, useMay } from '../../../auth/session';
import { useTranslation } from '../../../i18n/use_translation';
import { StateBadge } from '../../../ui/state_badge';
import { ListCard } from '../../../ui/list_card';
import { EmptyYet, LoadFailure, Loading, PageHeader, Segments } from '../../../ui/ui';
import { RunTable } from '../../lists/runs/run_table';
import { StateFilter } from '../../lists/filters/state_filter';
import { repeatedOf } from '../../backfills/backfill_values';
import { DeleteDialog, PauseDialog } from '../actions/pause_delete_dialogs';
import { mustAsk } from '../actions/must_ask';
import { useRunNow, useSetEnabled } from '../actions/job_actions';
import { LabelLinks } from '../list/label_links';
import { ConfigurationTab } from './configuration_tab';
import { NamespaceLink } from '../list/namespace_link';
import { OverviewTab } from './overview_tab';
import { zoneOf } from '../../schedule/schedule_text';

const BackfillDialog = lazy(() => import('../../backfills/backfill_dialog'));
const CancelRunsDialog = lazy(() => import('../actions/cancel_runs_dialog'));
const RunWithDialog = lazy(() => import('../actions/run_with_dialog'));
const AuditTab = lazy(() => import('./audit_tab'));
const FailurePause = lazy(() => import('../actions/failure_pause'));
const GraphTab = lazy(() => import('../../workflows/graph_tab'));
const DependenciesTab = lazy(() => import('../dependencies/dependencies_tab'));
const VersionsTab = lazy(() => import('./versions_tab'));
const WhyTab = lazy(() => import('./why_tab'));
const route = getRouteApi('/jobs/$id');

const UNREADABLE_TABS = ['runs', 'versions', 'audit'];

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
  const data = job.data.data;
  // Nothing of a definition that cannot be read can be shown.
  const readable = data.problem === undefined;
  const wanted = search.tab ?? 'overview';
  const tab = readable || UNREADABLE_TABS.includes(wanted) ? wanted : 'runs';
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
      {data.paused_by === 'failures' && (
        <Suspense>
          <FailurePause job={data} />
        </Suspense>
      )}
      {data.state === 'PAUSED' && data.paused_by === undefined && (
        <p role="status" className="mb-4 rounded-md bg-warn-soft px-4 py-2.5 text-warn">
          {data.pause_reason ? t('jobs.paused_because', { reason: data.pause_reason }) : t('jobs.is_paused')}
        </p>
      )}
      {(data.problem ?? data.schedule_problem) && (
        <p role="status" className="mb-4 rounded-md bg-bad-soft px-4 py-2.5 text-bad">
          {data.problem ?? data.schedule_problem}
        </p>
      )}
      <div className="mb-4">
        <Segments
          label={t('jobs.views')}
          value={tab}
          choices={[
            { value: 'overview', label: t('jobs.tab_overview') },
            ...(data.type === 'workflow' ? [{ value: 'graph', label: t('jobs.tab_graph') }] : []),
            { value: 'runs', label: t('nav.runs') },
            { value: 'configuration', label: t('jobs.tab_configuration') },
            { value: 'dependencies', label: t('jobs.tab_dependencies') },
            { value: 'versions', label: t('jobs.tab_versions') },
            { value: 'why', label: t('jobs.tab_why') },
            ...(mayAudit ? [{ value: 'audit', label: t('nav.audit') }] : []),
          ].filter((one) => readable || UNREADABLE_TABS.includes(one.value))}
          onChange={(next) =>
            void navigate({ search: next === 'overview' ? {} : { tab: next as typeof search.tab } })
          }
        />
      </div>
      {tab === 'overview' && <OverviewTab job={data} />}
      {tab === 'runs' && <Runs job={data} />}
      {tab === 'configuration' && <ConfigurationTab job={data} />}
      <Suspense fallback={<Loading />}>
        {tab === 'graph' && <GraphTab id={data.job_id} />}
        {tab === 'dependencies' && <DependenciesTab job={data} />}
        {tab === 'versions' && <VersionsTab job={data} />}
        {tab === 'why' && <WhyTab job={data} />}
        {tab === 'audit' && <AuditTab job={data} />}
      </Suspense>
    </>
  );
}

function Actions({ job }: { job: Job }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const may = useMay('jobs:write');
  const denied = useDenied();
  const why = (action: string) => {
    const possible = action === 'delete' || action === 'cancel';
    if (job.problem && !possible) return { disabled: true, title: job.problem };
    const reason = denied(job, action);
    return { disabled: reason !== undefined, title: reason && t(reason) };
  };
  const runNow = useRunNow();
  const setEnabled = useSetEnabled();
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
        disabled={!may || job.problem !== undefined}
        title={may ? job.problem : t('denied.write')}
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
        onDone={() => void navigate({ to: '/jobs' })}
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
      <ListCard
        query={runs}
        match={search.state ? () => setState(undefined) : undefined}
        empty={<EmptyYet title={t('runs.none')} hint={t('runs.none_hint')} />}
      >
        {items.length > 0 && <RunTable runs={items} withJob={false} zone={zoneOf(job)} />}
      </ListCard>
    </>
  );
}

// Table of jobs, with the most frequent actions on one job.
import '../detail/texts.en';
import './texts.en';
import '../../workflows/texts.en';
import { Menu } from '@base-ui/react/menu';
import { Link } from '@tanstack/react-router';
import { Copy, Ellipsis, Pause, Pencil, Play, SlidersHorizontal, Trash2 } from 'lucide-react';
import { Suspense, lazy, useState } from 'react';
import type { Job, RecentRun } from '../../../api/types';
import { useDenied, useMay } from '../../../auth/session';
import { useTranslation } from '../../../i18n/use_translation';
import { DataTable, type Column, type Sorting } from '../../../ui/data_table';
import { early } from '../../../lib/preload';
import { usePreferences } from '../../../lib/preferences';
import { StateBadge } from '../../../ui/state_badge';
import { Time } from '../../../ui/time';
import type { List } from '../../lists/list';
import { useTickColumn } from '../../lists/list_bar';
import { lastEnded, useLastRuns } from '../../lists/runs/last_runs';
import { DeleteDialog, PauseDialog } from '../actions/pause_delete_dialogs';
import { LabelLinks } from './label_links';
import { useOwnerText } from '../../users/owners';
import { scheduleText, zoneOf } from '../../schedule/schedule_text';
import { UpstreamText } from '../dependencies/upstream_text';
import { mustAsk } from '../actions/must_ask';
import { useRunNow, useSetEnabled } from '../actions/job_actions';

const RunStrip = early(() => import('../../lists/runs/run_strip'));
const RunWithDialog = lazy(() => import('../actions/run_with_dialog'));
const LAST_RUNS = 10;
export const rowOf = (job: Job) => ({ id: job.job_id, name: job.name, state: job.state });

export function JobsTable({
  jobs,
  list,
  selector,
  sorting,
}: {
  jobs: Job[];
  list: List;
  selector?: string;
  sorting: Sorting;
}) {
  const { t } = useTranslation();
  const ownerOf = useOwnerText();
  const runNow = useRunNow();
  const setEnabled = useSetEnabled();
  // Requests the last runs only if a column shows the last runs.
  const asks = list.columns.isShown('last') || list.columns.isShown('result');
  const last = useLastRuns(asks ? jobs.map((job) => job.job_id) : [], LAST_RUNS);
  const [pausing, setPausing] = useState<Job | null>(null);
  const [deleting, setDeleting] = useState<Job | null>(null);
  const [running, setRunning] = useState<Job | null>(null);
  const columns: Column<Job>[] = [
    { ...useTickColumn(list, rowOf), width: 36 },
    {
      id: 'name',
      header: t('jobs.name'),
      sort: 'name',
      cell: (job) => <NameCell job={job} selector={selector} />,
    },
    { id: 'state', header: t('jobs.state'), width: 96, cell: (job) => <StateBadge state={job.state} /> },
    {
      id: 'schedule',
      header: t('jobs.schedule'),
      width: 140,
      cell: (job) =>
        job.problem ? (
          <span className="text-bad" title={job.problem}>
            {t('jobs.unreadable')}
          </span>
        ) : (
          <ScheduleCell job={job} jobs={jobs} />
        ),
    },
    {
      id: 'next',
      header: t('jobs.next'),
      width: 126,
      cell: (job) =>
        job.schedule_problem ? (
          <span className="text-bad" title={job.schedule_problem}>
            {t('jobs.not_planned')}
          </span>
        ) : (
          <Time at={job.next_fire_time} zone={zoneOf(job)} />
        ),
    },
    {
      id: 'result',
      header: t('jobs.last_result'),
      width: 124,
      cell: (job) => <LastResult runs={last?.get(job.job_id)} />,
    },
    {
      id: 'last',
      header: t('strip.column'),
      width: 136,
      cell: (job) => {
        const runs = last?.get(job.job_id);
        // The cell has its final size before the runs are loaded. So the rows do not move later.
        return (
          <div className="min-h-6 min-w-[120px]">
            {runs && (
              <Suspense>
                <RunStrip runs={runs} name={job.name} zone={zoneOf(job)} />
              </Suspense>
            )}
          </div>
        );
      },
    },
    {
      id: 'namespace',
      header: t('jobs.namespace'),
      width: 100,
      cell: (job) => (
        <span className="block truncate text-muted" title={job.namespace}>
          {job.namespace}
        </span>
      ),
    },
    {
      id: 'owner',
      header: t('jobs.owner'),
      width: 84,
      cell: (job) => (
        <span className="block truncate text-muted" title={job.user_id}>
          {ownerOf(job.user_id)}
        </span>
      ),
    },
    {
      id: 'changed',
      header: t('jobs.changed'),
      sort: 'update_time',
      width: 126,
      cell: (job) => <Time at={job.update_time} />,
    },
    {
      id: 'actions',
      header: <span className="sr-only">{t('actions')}</span>,
      width: 130,
      cell: (job) => (
        <RowActions
          job={job}
          busy={runNow.isPending && runNow.variables === job.job_id}
          onRun={() => (mustAsk(job) ? setRunning(job) : runNow.mutate(job.job_id))}
          onRunWith={() => setRunning(job)}
          onPause={() => setPausing(job)}
          onResume={() => setEnabled.mutate({ id: job.job_id, enabled: true })}
          onDelete={() => setDeleting(job)}
        />
      ),
    },
  ];
  return (
    <>
      <DataTable
        label={t('nav.jobs')}
        fits
        columns={columns.filter((one) => list.columns.isShown(one.id))}
        rows={jobs}
        rowId={(job) => job.job_id}
        sorting={sorting}
      />
      <PauseDialog
        job={pausing}
        onClose={() => setPausing(null)}
        onPause={(job, reason) => setEnabled.mutate({ id: job.job_id, enabled: false, reason })}
      />
      <DeleteDialog job={deleting} onClose={() => setDeleting(null)} />
      {running && (
        <Suspense>
          <RunWithDialog jobId={running.job_id} name={running.name} onClose={() => setRunning(null)} />
        </Suspense>
      )}
    </>
  );
}

function NameCell({ job, selector }: { job: Job; selector?: string }) {
  return (
    <div className="min-w-0">
      <div className="flex min-w-0 items-center gap-2">
        <Link
          to="/jobs/$id"
          params={{ id: job.job_id }}
          title={job.name}
          className="min-w-0 truncate leading-6 font-medium text-ink no-underline hover:underline"
        >
          {job.name}
        </Link>
        {/* Labels that do not fit are hidden below the edge. The focus scrolls them into view. */}
        <span className="max-h-6 min-w-[20%] flex-1 overflow-hidden">
          <LabelLinks labels={job.labels} selector={selector} within />
        </span>
      </div>
      <div className="mono truncate text-xs text-muted" title={job.job_id}>
        {job.job_id}
      </div>
    </div>
  );
}

// `jobs`: the jobs of the list, one of which may be the upstream job.
function ScheduleCell({ job, jobs }: { job: Job; jobs: readonly Job[] }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const [first, ...rest] = job.schedules;
  if (!first) return <span className="text-muted">{t('schedule.manual')}</span>;
  return (
    <div className="min-w-0">
      <div className="flex gap-1">
        {first.kind === 'after' ? (
          <UpstreamText schedule={first} known={jobs.find((one) => one.job_id === first.job)?.name} />
        ) : (
          <span className="mono truncate" title={scheduleText(first, t, language)}>
            {scheduleText(first, t, language)}
          </span>
        )}
        {rest.length > 0 && (
          <span className="whitespace-nowrap text-muted">{t('schedule.more', { n: rest.length })}</span>
        )}
      </div>
      {first.kind === 'cron' && (
        <div className="truncate text-xs text-muted" title={zoneOf(job)}>
          {zoneOf(job)}
        </div>
      )}
    </div>
  );
}

// Result and time of the job's last run that has ended.
function LastResult({ runs }: { runs: readonly RecentRun[] | undefined }) {
  const run = runs && lastEnded(runs);
  if (!run) return <span className="text-muted">–</span>;
  return (
    <div>
      <Link
        to="/runs/$id"
        params={{ id: run.run_id }}
        preload={false}
        className="inline-flex min-h-6 items-center no-underline"
      >
        <StateBadge state={run.state} />
      </Link>
      <div className="truncate text-xs text-muted">
        <Time at={run.ended_at ?? run.fire_time} />
      </div>
    </div>
  );
}

function RowActions(props: {
  job: Job;
  busy: boolean;
  onRun: () => void;
  onRunWith: () => void;
  onPause: () => void;
  onResume: () => void;
  onDelete: () => void;
}) {
  const { t } = useTranslation();
  const { job } = props;
  const may = useMay('jobs:write');
  const denied = useDenied();
  const why = (action: string) => {
    if (job.problem && action !== 'delete') return { disabled: true, title: job.problem };
    const reason = denied(job, action);
    return { disabled: reason !== undefined, title: reason && t(reason) };
  };
  const run = why('execute');
  const paused = job.state === 'PAUSED';
  return (
    <div className="flex justify-end gap-1">
      <button
        type="button"
        className="button"
        title={run.title}
        disabled={props.busy || run.disabled}
        onClick={props.onRun}
        aria-label={t('jobs.run_named', { name: job.name })}
      >
        {t('jobs.run')}
      </button>
      <Menu.Root>
        <Menu.Trigger
          className="button button-plain button-icon"
          aria-label={t('jobs.more_named', { name: job.name })}
        >
          <Ellipsis aria-hidden size={17} />
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner className="z-40" align="end" sideOffset={4}>
            <Menu.Popup className="popup min-w-44 p-1">
              <Menu.Item className="menu-item" {...run} onClick={props.onRunWith}>
                <SlidersHorizontal aria-hidden size={15} />
                {t('jobs.run_with')}
              </Menu.Item>
              <Menu.Item
                className="menu-item"
                {...why(paused ? 'resume' : 'pause')}
                onClick={paused ? props.onResume : props.onPause}
              >
                {paused ? <Play aria-hidden size={15} /> : <Pause aria-hidden size={15} />}
                {paused ? t('jobs.resume') : t('jobs.pause')}
              </Menu.Item>
              <Menu.Item
                className="menu-item"
                {...why('edit')}
                render={<Link to="/jobs/$id/edit" params={{ id: job.job_id }} />}
              >
                <Pencil aria-hidden size={15} />
                {t('jobs.edit')}
              </Menu.Item>
              <Menu.Item
                className="menu-item"
                disabled={!may || job.problem !== undefined}
                title={may ? job.problem : t('denied.write')}
                render={<Link to="/jobs/new" search={{ from: job.job_id }} />}
              >
                <Copy aria-hidden size={15} />
                {t('jobs.duplicate')}
              </Menu.Item>
              <Menu.Item className="menu-item text-bad" {...why('delete')} onClick={props.onDelete}>
                <Trash2 aria-hidden size={15} />
                {t('jobs.delete')}
              </Menu.Item>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
    </div>
  );
}

// Is the fleet healthy, what fails now, what fires next. Every number leads to what is behind it.
import { Link } from '@tanstack/react-router';
import { CircleCheck, TriangleAlert } from 'lucide-react';
import { Suspense, lazy, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { itemsOf, useDeadLetters, useExecutors, useGaps, useJobs, useRuns, useStatus } from '../../api/queries';
import { serverNow } from '../../api/reachability';
import type { SystemStatus } from '../../api/types';
import { useNow } from '../../shared/clock';
import { count, percent, span } from '../../shared/format';
import { usePreferences } from '../../shared/preferences';
import { Time } from '../../shared/time';
import { Card, LoadFailure, Loading, PageHeader } from '../../shared/ui';
import { zoneOf } from '../jobs/schedule_text';
import { RunTable } from '../runs/run_table';
import { sampleOf } from './sample';

const FailureMap = lazy(() => import('./failure_map'));
const FirstSteps = lazy(() => import('./first_steps'));

const BAD = ['FAILED', 'TIMED_OUT', 'LOST'];
const SHOWN = 6;
const LATE_MS = 5000;
const RECENT_ENDED = 200;
const JOBS_READ = 500;
const DAY_MS = 86_400_000;

export function OverviewPage() {
  const { t } = useTranslation();
  const status = useStatus();
  const jobs = useJobs({ page_size: JOBS_READ });
  const failures = useRuns({ state: BAD, page_size: SHOWN });
  const failed = itemsOf(failures.data).slice(0, SHOWN);
  const sample = jobs.isSuccess ? sampleOf(itemsOf(jobs.data)) : undefined;
  return (
    <>
      <PageHeader title={t('nav.overview')} documentTitle={t('nav.overview')} />
      {status.isPending ? <Loading />
        : !status.data ? <LoadFailure error={status.error} onRetry={() => void status.refetch()} />
        : <Tiles status={status.data} />}
      {sample !== undefined && <Suspense><FirstSteps sample={sample} /></Suspense>}
      <div className="grid gap-4 xl:grid-cols-[minmax(0,1fr)_400px]">
        <div className="grid min-w-0 content-start gap-4">
          {status.data && <Attention status={status.data} />}
          <Card title={t('overview.failures')} flush actions={<Link to="/runs" search={{ state: BAD }} className="link">{t('list.all')}</Link>}>
            {failures.isPending ? <Loading />
              : failures.isError && failed.length === 0 ? <LoadFailure error={failures.error} onRetry={() => void failures.refetch()} />
              : failed.length > 0 ? <RunTable runs={failed} withJob brief />
              : <p className="flex items-center justify-center gap-2 p-8 text-muted"><CircleCheck aria-hidden size={17} className="text-ok" />{t('overview.no_failures')}</p>}
          </Card>
        </div>
        <NextFires />
      </div>
      {failed.length > 0 && <div className="mt-4"><Suspense><FailureMap /></Suspense></div>}
    </>
  );
}

function Tiles({ status }: { status: SystemStatus }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const ended = itemsOf(useRuns({ state: ['COMPLETED', ...BAD], page_size: RECENT_ENDED }).data).slice(0, RECENT_ENDED);
  const good = ended.filter((run) => run.state === 'COMPLETED').length;
  const online = status.executors.ONLINE ?? 0;
  const away = Object.entries(status.executors).reduce((sum, [state, n]) => (state === 'ONLINE' ? sum : sum + n), 0);
  return (
    <div className="mb-4 grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Tile to={<Link to="/runs" search={{ state: ['COMPLETED', ...BAD] }} />} label={t('tile.success')}
        value={ended.length > 0 ? percent(Math.floor((good * 100) / ended.length) / 100, language) : '–'} under={t('tile.success_of', { n: ended.length })} />
      <Tile to={<Link to="/runs" search={{ state: ['RUNNING'] }} />} label={t('tile.running')}
        value={status.runs_running === null ? '–' : count(status.runs_running, language)}
        under={t('tile.pending', { n: status.runs_pending === null ? '–' : count(status.runs_pending, language) })} />
      <Tile to={<Link to="/system" />} label={t('tile.late')} value={status.late_ms.p99 === null ? '–' : span(status.late_ms.p99)} under={t('tile.late_under')} />
      <Tile to={<Link to="/executors" />} label={t('tile.executors')} value={count(online, language)}
        under={away > 0 ? t('tile.away', { n: away }) : t('tile.all_online')} />
    </div>
  );
}

function Tile(props: { to: ReactNode; label: string; value: string; under: string }) {
  const link = props.to as React.ReactElement<Record<string, unknown>>;
  return (
    <link.type {...link.props} className="card block p-4 text-ink no-underline hover:border-line-strong">
      <span className="block text-muted">{props.label}</span>
      <span className="block text-2xl font-semibold tabular-nums">{props.value}</span>
      <span className="block text-xs text-muted">{props.under}</span>
    </link.type>
  );
}

interface Matter { key: string; text: string; link: ReactNode }

function Attention({ status }: { status: SystemStatus }) {
  const { t } = useTranslation();
  const held = itemsOf(useRuns({ state: ['HELD'], page_size: SHOWN }).data);
  const dead = itemsOf(useDeadLetters().data);
  const executors = itemsOf(useExecutors().data);
  // What a person paused is no surprise.
  const missed = itemsOf(useGaps({ page_size: SHOWN }).data).slice(0, SHOWN)
    .filter((gap) => gap.reason !== 'paused' && Date.parse(gap.to) > serverNow() - DAY_MS);
  const matters: Matter[] = [];
  const see = t('overview.see');
  if (status.leader === null) matters.push({ key: 'leader', text: t('system.no_leader'), link: <Link to="/system" className="link">{see}</Link> });
  if ((status.oldest_overdue_ms ?? 0) > LATE_MS) {
    matters.push({ key: 'late', text: t('overview.overdue', { span: span(status.oldest_overdue_ms ?? 0) }), link: <Link to="/runs" search={{ state: ['PENDING'] }} className="link">{see}</Link> });
  }
  for (const run of held) {
    matters.push({ key: run.run_id, text: t('overview.held', { name: run.job_name }), link: <Link to="/runs/$id" params={{ id: run.run_id }} className="link">{see}</Link> });
  }
  for (const one of executors) {
    const state = one.state === 'LOST' || one.state === 'UNHEALTHY' ? one.state : one.draining ? 'DRAINING' : !one.enabled ? 'DISABLED' : null;
    if (state) matters.push({ key: one.executor_id, text: t('overview.executor', { name: one.executor_id, state: t(`state.${state}`) }), link: <Link to="/executors" className="link">{see}</Link> });
  }
  for (const gap of missed) {
    matters.push({ key: `gap ${gap.schedule_id} ${gap.from}`, text: t('overview.gap', { name: gap.job_id, n: gap.count }), link: <Link to="/jobs/$id" params={{ id: gap.job_id }} search={{ tab: 'why', at: gap.from }} className="link">{t('why.short')}</Link> });
  }
  const jobs = new Map<string, number>();
  for (const letter of dead) jobs.set(letter.job_id, (jobs.get(letter.job_id) ?? 0) + 1);
  for (const [job, n] of [...jobs].slice(0, SHOWN)) {
    matters.push({ key: 'dead ' + job, text: t('overview.dead', { name: job, n }), link: <Link to="/jobs/$id" params={{ id: job }} search={{ tab: 'runs', state: BAD }} className="link">{see}</Link> });
  }
  return (
    <Card title={t('overview.attention')} flush>
      {matters.length === 0 ? (
        <p className="flex items-center justify-center gap-2 p-8 text-muted"><CircleCheck aria-hidden size={17} className="text-ok" />{t('overview.nothing')}</p>
      ) : (
        <ul>
          {matters.map((one) => (
            <li key={one.key} className="flex items-center gap-3 border-b px-4 py-2.5 last:border-b-0">
              <TriangleAlert aria-hidden size={16} className="shrink-0 text-warn" />
              <span className="min-w-0 flex-1 break-words">{one.text}</span>
              {one.link}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function NextFires() {
  const { t } = useTranslation();
  const jobs = useJobs({ status: 'ENABLED', page_size: JOBS_READ });
  const now = useNow();
  const coming = itemsOf(jobs.data)
    .filter((job) => job.next_fire_time !== null && Date.parse(job.next_fire_time) >= now - 1000)
    .toSorted((a, b) => a.next_fire_time!.localeCompare(b.next_fire_time!))
    .slice(0, 12);
  return (
    <Card title={t('overview.next')} flush className="self-start">
      {jobs.isPending ? <Loading /> : coming.length === 0 ? <p className="p-8 text-center text-muted">{t('preview.none')}</p> : (
        <ul>
          {coming.map((job) => (
            <li key={job.job_id} className="flex items-center justify-between gap-3 border-b px-4 py-2 last:border-b-0">
              <Link to="/jobs/$id" params={{ id: job.job_id }} className="min-w-0 truncate text-ink no-underline hover:underline">{job.name}</Link>
              <span className="text-muted"><Time at={job.next_fire_time} zone={zoneOf(job)} /></span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

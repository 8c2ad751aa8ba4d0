// Tab of a job with its last runs, its gaps and its next fires.
import '../../gaps/texts.en';
import '../list/texts.en';
import './texts.en';
import { Link } from '@tanstack/react-router';
import { Suspense, lazy } from 'react';
import { itemsOf, useGaps, useNextFires, useRuns } from '../../../api/queries';
import type { Job } from '../../../api/types';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { isAwaited, useKnown } from '../../../lib/layout_hold';
import { usePreferences } from '../../../lib/preferences';
import { early } from '../../../lib/preload';
import { Time } from '../../../ui/time';
import { Card, EmptyYet, LoadFailure, Loading } from '../../../ui/ui';
import { RunTable } from '../../lists/runs/run_table';
import { queuesRuns } from '../form/form_schema';
import { FireList, Hints, Skipped } from '../form/preview';
import { describeCron, useWords } from './describe';
import { UpstreamOf } from '../dependencies/upstream_text';
import { limitsText, scheduleText, zoneOf } from '../../schedule/schedule_text';

const LastRunsCard = early(() => import('./last_runs_card'));
const Durations = early(() => import('./durations'));
const EndsCard = early(() => import('./outcome_calendar'));
const QueueCard = lazy(() => import('./queue_card'));
const GroupCard = lazy(() => import('./group_card'));
const UsedByCard = lazy(() => import('../dependencies/used_by'));
const FIRES = 10;
const RECENT = 8;

const ENDINGS = ['ends', 'calendar_ends']; // what comes with time; the form shows all warnings

export function OverviewTab({ job }: { job: Job }) {
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
                  {schedule.kind === 'after' ? (
                    <UpstreamOf job={job} schedule={schedule} />
                  ) : (
                    <span className="mono">{scheduleText(schedule, t, language)}</span>
                  )}
                  {schedule.kind === 'cron' && (
                    <span className="block text-muted">
                      {describeCron(schedule.cron_expression, language, t)} ·{' '}
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
          ) : job.schedules.length > 0 &&
            job.schedules.every(({ kind }) => kind === 'after' || kind === 'event') ? (
            <p className="text-muted">
              {t(
                job.schedules.some(({ kind }) => kind === 'after')
                  ? 'schedule.after_only'
                  : 'schedule.event_only',
              )}
            </p>
          ) : job.schedules.length > 0 && fires.data ? (
            <>
              <FireList fires={fires.data.items} />
              {(fires.data.skipped?.length ?? 0) > 0 && <Skipped fires={fires.data.skipped!} />}
              <Hints warnings={(fires.data.warnings ?? []).filter(({ code }) => ENDINGS.includes(code))} />
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
        <Suspense>
          <UsedByCard id={job.job_id} />
        </Suspense>
      </div>
    </div>
  );
}

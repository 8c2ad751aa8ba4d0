// Page of one run: the steps of its life and the delays between them, its attempts, its output and outputs. The
// page is refreshed while the run is active.
import '../list/texts.en';
import './texts.en';
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { Suspense, lazy } from 'react';
import { FAST_MS, isRefused, useEvery } from '../../../api/queries';
import { get } from '../../../api/client';
import { FINAL_STATES, type Attempt, type Run } from '../../../api/types';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { useNow } from '../../../lib/clock';
import { span } from '../../../lib/format';
import { usePreferences } from '../../../lib/preferences';
import { early } from '../../../lib/preload';
import { StateBadge } from '../../../ui/state_badge';
import { Time } from '../../../ui/time';
import { Card, Facts, LoadFailure, Loading, PageHeader } from '../../../ui/ui';
import { ExecutorLink } from '../../lists/runs/executor_link';
import { Output } from '../log/output';
import { attemptOf, attemptToShow, exitText, timeline, usageText, isWorkflow } from './run_text';
import { duration } from '../../lists/runs/duration';
import { Actions, Again } from './run_actions';
import { runPath } from './run_path';

export { Output };

const PartOf = lazy(() => import('./part_of'));
const Nodes = lazy(() => import('../nodes/run_nodes'));
const ShardsCard = lazy(() => import('../../shards/shards_card'));
const Attempts = lazy(() => import('./attempts_card'));
const Outputs = lazy(() => import('./outputs_card'));
const Saved = lazy(() => import('./saved_card'));
const StartedBy = lazy(() => import('./started_by'));
const EventCard = lazy(() => import('./event_card'));
const Waiting = early(() => import('../waiting/waiting_text'));
const route = getRouteApi('/runs/$id');
const SOON_MS = 700; // ms; refresh interval until the run has ended

export function RunPage() {
  const { id } = route.useParams();
  const soon = useEvery(SOON_MS);
  const calm = useEvery(FAST_MS);
  const run = useQuery({
    queryKey: ['runs', id],
    queryFn: ({ signal }) => get<Run>(runPath(id), {}, signal),
    refetchInterval: ({ state }) =>
      !isRefused(state.error) && (FINAL_STATES.has(state.data?.state ?? '') ? calm : soon),
  });
  if (run.isPending) return <Loading />;
  if (!run.data) return <LoadFailure error={run.error} onRetry={() => void run.refetch()} />;
  return <Known run={run.data} />;
}

function Known({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const textOr = useTextOr();
  const search = route.useSearch();
  const name = run.job_name || run.job_id;
  const shown = attemptOf(run, search.attempt ? Number(search.attempt) : attemptToShow(run));
  const ofNodes = isWorkflow(run) && !run.kept;
  return (
    <>
      <PageHeader
        documentTitle={t('run.title', { name })}
        title={
          <>
            <span>{name}</span>
            <StateBadge state={run.state} />
          </>
        }
        under={
          <>
            {(run.workflow_run_id || run.fan_out_run_id) && (
              <Suspense>
                <PartOf run={run} />
              </Suspense>
            )}
            <Link to="/jobs/$id" params={{ id: run.job_id }} className="link underline">
              {run.job_id}
            </Link>
            {' · '}
            <span className="mono">{run.run_id}</span>
          </>
        }
        actions={
          <>
            <Actions run={run} />
            <Again run={run} />
          </>
        }
      />
      <Sentence run={run} />
      {run.kept && <p className="mb-4 rounded-md bg-idle-soft px-4 py-2.5 text-idle">{t('run.kept')}</p>}
      {ofNodes && (
        <Suspense fallback={<Loading />}>
          <Nodes run={run} graph />
        </Suspense>
      )}
      <div className="grid gap-4 xl:grid-cols-[minmax(0,1fr)_360px]">
        <div className="grid min-w-0 content-start gap-4">
          {ofNodes ? (
            <Suspense fallback={<Loading />}>
              <Nodes run={run} />
            </Suspense>
          ) : run.shards && !run.kept ? (
            <Suspense fallback={<Loading />}>
              <ShardsCard run={run} />
            </Suspense>
          ) : (
            <OutputCard run={run} />
          )}
          {(run.progress || run.checkpoint) && (
            <Suspense>
              <Saved progress={run.progress} checkpoint={run.checkpoint} />
            </Suspense>
          )}
          {run.outputs && Object.keys(run.outputs).length > 0 && (
            <Suspense>
              <Outputs outputs={run.outputs} />
            </Suspense>
          )}
          {run.attempts?.some((one) => one.ended_at !== null) && (
            <Suspense>
              <Attempts run={run} />
            </Suspense>
          )}
        </div>
        <div className="grid content-start gap-4">
          <Timeline run={run} shown={shown} />
          {run.event && (
            <Suspense>
              <EventCard event={run.event} />
            </Suspense>
          )}
          <Card title={t('run.facts')}>
            <Facts
              items={[
                [t('runs.kind'), textOr('kind.', run.kind)],
                ...(run.trigger
                  ? [
                      [
                        t('run.started_by'),
                        <Suspense key="b">
                          <StartedBy trigger={run.trigger} />
                        </Suspense>,
                      ] as const,
                    ]
                  : []),
                [t('runs.executor'), <ExecutorLink key="e" id={shown.executor_id} />],
                [t('run.attempt'), shown.attempt],
                shown.http_status
                  ? [t('run.http_status'), shown.http_status]
                  : [t('run.exit_code'), shown.exit_code ?? '–'],
                [t('run.reason'), shown.reason ? textOr('reason.', shown.reason) : '–'],
                ...(shown.limits_not_enforced?.length
                  ? [[t('run.limits_not_enforced'), shown.limits_not_enforced.join(', ')] as const]
                  : []),
                ...(shown.usage ? [[t('run.usage'), usageText(shown.usage, t, i18n.language)] as const] : []),
                [t('run.priority'), run.priority],
                [t('run.definition'), 'v' + run.job_version],
                [
                  t('run.trace'),
                  <code key="t" className="mono break-all">
                    {run.trace_id ?? '–'}
                  </code>,
                ],
                ...(run.parameters && Object.keys(run.parameters).length > 0
                  ? [
                      [
                        t('run.parameters'),
                        <code key="p" className="mono break-all">
                          {JSON.stringify(run.parameters)}
                        </code>,
                      ] as const,
                    ]
                  : []),
              ]}
            />
          </Card>
        </div>
      </div>
    </>
  );
}

const endingOf = (run: Run) =>
  run.job_type === 'handler' ? 'run.stopping' : run.cancel_mode === 'kill' ? 'run.killing' : 'run.cancelling';

// Shows the reason for the run's state in one sentence, if there is a reason.
function Sentence({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const textOr = useTextOr();
  // The error is a text of the server, in English.
  const error =
    run.error &&
    (i18n.language !== 'en' && run.reason === 'exit_code' && run.exit_code !== null ? (
      `${textOr('reason.', run.reason)} ${exitText(run.exit_code, t)}`
    ) : (
      <>
        {i18n.language !== 'en' && textOr('reason.', run.reason)} <span lang="en">{run.error}</span>
      </>
    ));
  // A HELD run may wait for its host, for a time.
  if (run.state === 'PENDING' || run.waiting)
    return (
      <Suspense>
        <Waiting run={run} error={error} />
      </Suspense>
    );
  // While the run is active, its error is the reason that was given for the cancellation.
  const ending = run.state === 'RUNNING' && run.cancel_requested && t(endingOf(run));
  const text = ending ? (
    <>
      {ending} {error}
    </>
  ) : (
    error
  );
  if (!text) return null;
  const bad = run.error !== null && run.state !== 'CANCELLED' && !ending;
  return (
    <p
      role="status"
      className={'mb-4 rounded-md px-4 py-2.5 ' + (bad ? 'bg-bad-soft text-bad' : 'bg-idle-soft text-idle')}
    >
      {text}
    </p>
  );
}

function Timeline({ run, shown }: { run: Run; shown: Attempt }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  return (
    <Card
      title={
        <>
          {t('run.timeline')}
          {run.attempt > 1 && (
            <span className="text-muted"> · {t('runs.attempt_n', { n: shown.attempt })}</span>
          )}
        </>
      }
    >
      <ol className="grid gap-0">
        {timeline(run, shown.attempt).map((step) => (
          <li
            key={step.key}
            className="relative grid grid-cols-[14px_1fr_auto] items-baseline gap-x-3 pb-3 last:pb-0"
          >
            <span
              aria-hidden
              className={
                'size-2.5 translate-y-px rounded-full border-2 ' +
                (step.at ? 'border-accent bg-accent' : 'border-line-strong')
              }
            />
            <span>
              <span className={step.at ? '' : 'text-muted'}>
                {t(`step.${step.key}`, { n: shown.attempt - 1 })}
              </span>
              <span className="block text-xs text-muted">
                {step.at ? <Time at={step.at} absolute /> : t('step.not_yet')}
              </span>
            </span>
            <span className="text-muted tabular-nums">
              {step.after === null ? '' : (step.after >= 0 ? '+' : '') + span(step.after, language)}
            </span>
          </li>
        ))}
      </ol>
      {shown.state === 'RUNNING' && <Elapsed run={run} />}
    </Card>
  );
}

function Elapsed({ run }: { run: Run }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  return (
    <p className="mt-3 border-t pt-3 text-busy">
      {t('run.elapsed', { span: span(duration(run, useNow()) ?? 0, language) })}
    </p>
  );
}

function OutputCard({ run }: { run: Run }) {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const chosen = search.attempt ? Number(search.attempt) : attemptToShow(run);
  const turn = (more: Partial<typeof search>) =>
    void navigate({
      search: (before) => ({ ...before, ...more }),
      hash: true,
      replace: true,
      resetScroll: false,
    });
  return (
    <Card
      title={
        <>
          {t('run.output')}
          {run.attempt > 1 && <span className="text-muted"> · {t('runs.attempt_n', { n: chosen })}</span>}
        </>
      }
      flush
    >
      <Output
        runId={run.run_id}
        attempt={chosen}
        open={chosen === run.attempt && !FINAL_STATES.has(run.state)}
        search={search.q ?? ''}
        level={search.level}
        onLevel={(level) => turn({ level })}
        onSearch={(q) => turn({ q: q || undefined })}
        onLink={(hash) =>
          void navigate({ search: true, hash, replace: true, resetScroll: false, hashScrollIntoView: false })
        }
      />
    </Card>
  );
}

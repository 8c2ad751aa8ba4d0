// Cards of a workflow run: the times of its nodes as bars, and the table of them with what the graph shows, from
// which nodes are skipped.
import '../runs/detail/texts.en';
import './texts.en';
import { Link } from '@tanstack/react-router';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { SkipForward, Unlock } from 'lucide-react';
import { Suspense, lazy, useMemo, useState } from 'react';
import { call } from '../../api/client';
import { serverNow } from '../../lib/server_clock';
import type { Run } from '../../api/types';
import { useRunNodes, type RunNode, type RunNodes } from '../../api/workflows';
import { useDenied } from '../../auth/session';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { useNow } from '../../lib/clock';
import { span } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { DataTable, type Column } from '../../ui/data_table';
import { Modal } from '../../ui/dialogs/modal';
import { StateBadge } from '../../ui/state_badge';
import { Time } from '../../ui/time';
import { toast, toastError } from '../../ui/toasts';
import { Card, LoadFailure, Loading, explain } from '../../ui/ui';
import { statePermits } from '../../auth/state_permits';
import { waitText } from './edge_text';
import { barsOf, msOf } from './node_times';

const ReleaseDialog = lazy(() => import('../lists/runs/release_dialog'));
const DecideDialog = lazy(() => import('./decide_dialog'));

const SKIPPABLE = new Set(['PENDING', 'HELD', 'FAILED', 'TIMED_OUT', 'CANCELLED', 'LOST', 'SKIPPED']);
const NO_FAILURES = new Set(['skipped_by_hand', 'not_selected', 'upstream_failed']);
// True if the node waits for runs of other jobs, before it waits for other nodes. Older servers do not say so.
const isAwaiting = (node: RunNode) => node.awaiting === true;
// True if the node waits for a decision or a time.
const isOpened = (node: RunNode) =>
  (node.kind === 'approval' || node.kind === 'wait') && node.state === 'PENDING' && !node.blocked;
// True if the node's state permits a skip. The server says so to those who may act on the run.
const maySkip = (run: Run, node: RunNode) =>
  run.allowed_actions?.length
    ? statePermits(run, 'skip') && node.allowed_actions.includes('skip')
    : SKIPPABLE.has(node.state) && !NO_FAILURES.has(node.reason ?? '');

export default function NodesCard({ run }: { run: Run }) {
  const nodes = useRunNodes(run);
  if (nodes.isPending) return <Loading />;
  if (!nodes.data) return <LoadFailure error={nodes.error} onRetry={() => void nodes.refetch()} />;
  return <Known run={run} shown={nodes.data} />;
}

function Known({ run, shown }: { run: Run; shown: RunNodes }) {
  const { t } = useTranslation();
  const denied = useDenied()(run, 'skip');
  const [skipping, setSkipping] = useState<string | null>(null);
  const [releasing, setReleasing] = useState<string | null>(null);
  // What has failed is looked for first.
  const rows = useMemo(
    () => shown.nodes.toSorted((a, b) => Number(b.failure) - Number(a.failure)),
    [shown.nodes],
  );
  const columns: Column<RunNode>[] = [
    {
      id: 'name',
      header: t('nodes.node'),
      cell: (node) => (
        <Link
          to="/runs/$id"
          params={{ id: node.run_id }}
          className="link mono inline-flex min-h-6 items-center whitespace-nowrap"
        >
          {node.id}
        </Link>
      ),
    },
    { id: 'state', header: t('runs.state'), cell: (node) => <State node={node} /> },
    {
      id: 'job',
      header: t('nodes.job'),
      cell: (node) =>
        node.job_id === null ? (
          <span className="text-muted">{t(`nodes.kind_${node.kind}`)}</span>
        ) : (
          <Link to="/jobs/$id" params={{ id: node.job_id }} className="text-ink no-underline hover:underline">
            {node.job_name || node.job_id}
          </Link>
        ),
    },
    { id: 'attempt', header: t('nodes.attempt'), cell: (node) => node.attempt },
    {
      id: 'started',
      header: t('nodes.started'),
      cell: (node) => (node.started_at ? <Time at={node.started_at} /> : '–'),
    },
    { id: 'duration', header: t('nodes.duration'), cell: (node) => <Duration node={node} /> },
    { id: 'why', header: t('nodes.why'), cell: (node) => <Why node={node} /> },
    {
      id: 'actions',
      header: t('nodes.actions'),
      cell: (node) => (
        <span className="inline-flex flex-wrap gap-2">
          {isAwaiting(node) && node.allowed_actions.includes('release') && (
            <button
              type="button"
              className="button"
              aria-label={t('nodes.release_node', { node: node.id })}
              onClick={() => setReleasing(node.run_id)}
            >
              <Unlock aria-hidden size={15} />
              {t('nodes.release')}
            </button>
          )}
          {shown.state === 'RUNNING' && maySkip(run, node) && (
            <button
              type="button"
              className="button"
              aria-label={t('nodes.skip_node', { node: node.id })}
              disabled={Boolean(denied)}
              title={denied && t(denied)}
              onClick={() => setSkipping(node.id)}
            >
              <SkipForward aria-hidden size={15} />
              {t('nodes.skip')}
            </button>
          )}
        </span>
      ),
    },
  ];
  return (
    <>
      <Held run={run} shown={shown} />
      <Opened run={run} shown={shown} />
      <Card title={t('nodes.time')}>
        <Bars nodes={shown.nodes} />
      </Card>
      <div className="card overflow-hidden">
        <DataTable label={t('nodes.title')} columns={columns} rows={rows} rowId={(node) => node.id} />
      </div>
      {releasing !== null && (
        <Suspense>
          <ReleaseDialog id={releasing} onClose={() => setReleasing(null)} />
        </Suspense>
      )}
      {skipping !== null && <SkipDialog run={run} node={skipping} onClose={() => setSkipping(null)} />}
    </>
  );
}

// A run that is cancelled or times out waits for HELD nodes, until their hosts report or a person confirms.
function Held({ run, shown }: { run: Run; shown: RunNodes }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const denied = useDenied()(run, 'cancel');
  const [asking, setAsking] = useState(false);
  const cancel = useMutation({
    mutationFn: () =>
      call('POST', `runs/${encodeURIComponent(run.run_id)}/cancel`, { body: { confirm_overlap: true } }),
    onError: (error) => toastError(t('error.action'), explain(error, t)),
    onSettled: () => {
      setAsking(false);
      void client.invalidateQueries({ queryKey: ['runs'] });
    },
  });
  const held = shown.nodes.filter((node) => node.state === 'HELD');
  if (shown.state !== 'RUNNING' || held.length === 0) return null;
  return (
    <div
      role="status"
      className="mb-4 flex flex-wrap items-center gap-3 rounded-md bg-idle-soft px-4 py-2.5 text-idle"
    >
      <p className="grow">{t('nodes.held', { nodes: held.map((node) => node.id).join(', ') })}</p>
      <button
        type="button"
        className="button button-danger"
        disabled={Boolean(denied)}
        title={denied && t(denied)}
        onClick={() => setAsking(true)}
      >
        {t('nodes.held_cancel')}
      </button>
      <Modal
        open={asking}
        onClose={() => setAsking(false)}
        title={t('nodes.held_title')}
        actions={
          <>
            <button type="button" className="button" onClick={() => setAsking(false)}>
              {t('cancel')}
            </button>
            <button
              type="button"
              className="button button-danger"
              disabled={cancel.isPending}
              onClick={() => cancel.mutate()}
            >
              {t('run.overlap_confirm')}
            </button>
          </>
        }
      >
        <p className="text-muted">{t('run.overlap')}</p>
      </Modal>
    </div>
  );
}

// Approvals that wait for a person.
function Opened({ run, shown }: { run: Run; shown: RunNodes }) {
  const { t } = useTranslation();
  const [deciding, setDeciding] = useState<RunNode | null>(null);
  const open = shown.nodes.filter((node) => node.kind === 'approval' && isOpened(node));
  return (
    <>
      {open.map((node) => (
        <div
          key={node.id}
          role="status"
          className="mb-4 flex flex-wrap items-center gap-3 rounded-md bg-idle-soft px-4 py-2.5 text-idle"
        >
          <p className="grow">
            {t('nodes.waits_decision', { node: node.id })}{' '}
            {node.until && (
              <>
                {t('nodes.until')} <Time at={node.until} />
              </>
            )}
          </p>
          {node.allowed_actions.includes('decide') && (
            <button
              type="button"
              className="button button-primary"
              aria-label={t('nodes.decide_node', { node: node.id })}
              onClick={() => setDeciding(node)}
            >
              {t('nodes.decide')}
            </button>
          )}
        </div>
      ))}
      {deciding && (
        <Suspense>
          <DecideDialog workflow={run.run_id} node={deciding} onClose={() => setDeciding(null)} />
        </Suspense>
      )}
    </>
  );
}

function State({ node }: { node: RunNode }) {
  const { t } = useTranslation();
  if (isOpened(node))
    return (
      <span className="text-muted">
        {t(node.kind === 'approval' ? 'nodes.undecided' : 'nodes.timed')}{' '}
        {node.until && <Time at={node.until} />}
      </span>
    );
  return node.blocked ? (
    <span className="text-muted">{t(isAwaiting(node) ? 'nodes.awaiting' : 'nodes.blocked')}</span>
  ) : (
    <StateBadge state={node.state} />
  );
}

function Duration({ node }: { node: RunNode }) {
  const { language } = usePreferences();
  const ms = msOf(node, useNow());
  return <span className="tabular-nums">{ms === null ? '–' : span(ms, language)}</span>;
}

function Why({ node }: { node: RunNode }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  if (isAwaiting(node)) return t('nodes.waits_jobs');
  if (node.blocked) return waitText(node, t);
  if (node.repaired) return t('nodes.repaired');
  if (node.decision) return decisionText(node.decision, t);
  if (!node.reason) return '–';
  const text = textOr('reason.', node.reason);
  return (
    <span title={node.error ?? undefined}>
      {node.reason === 'exit_code' && node.exit_code !== null ? `${text} ${node.exit_code}` : text}
    </span>
  );
}

const decisionText = (
  { decision, by, reason }: NonNullable<RunNode['decision']>,
  t: ReturnType<typeof useTranslation>['t'],
): string =>
  t(`nodes.${decision}`, { by: by ?? '–' }) + (reason && decision !== 'timeout' ? `: ${reason}` : '');

// Each node's time as a bar. The table has its start and its duration.
function Bars({ nodes }: { nodes: readonly RunNode[] }) {
  const { t } = useTranslation();
  useNow(); // once a second
  const bars = barsOf(nodes, serverNow());
  return (
    <div className="grid gap-1" role="img" aria-label={t('nodes.time_label')}>
      {bars.map((bar) => (
        <div key={bar.id} className="grid grid-cols-[8rem_1fr] items-center gap-2 text-xs">
          <span className="mono truncate">{bar.id}</span>
          <span className="relative h-4 rounded bg-raised">
            {bar.width !== null && (
              <span
                className={
                  'absolute inset-y-0 min-w-0.5 rounded ' +
                  (bar.bad ? 'bg-bad' : bar.open ? 'bg-busy' : 'bg-ok')
                }
                style={{ left: bar.left + '%', width: bar.width + '%' }}
              />
            )}
          </span>
        </div>
      ))}
    </div>
  );
}

function SkipDialog(props: { run: Run; node: string; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [reason, setReason] = useState('');
  const { node } = props;
  const { run_id } = props.run;
  const skip = useMutation({
    mutationFn: () =>
      call<RunNodes>('POST', `runs/${encodeURIComponent(run_id)}/nodes/${encodeURIComponent(node)}/skip`, {
        body: reason.trim() ? { reason: reason.trim() } : {},
      }),
    onSuccess: ({ data }) => {
      client.setQueriesData({ queryKey: ['runs', run_id, 'nodes'] }, data);
      toast(t('nodes.skipped', { node }));
    },
    onError: (error) => toastError(t('error.action'), explain(error, t)),
    onSettled: props.onClose,
  });
  return (
    <Modal
      open
      onClose={props.onClose}
      title={t('nodes.skip_title', { node })}
      actions={
        <>
          <button type="button" className="button" onClick={props.onClose}>
            {t('cancel')}
          </button>
          <button
            type="button"
            className="button button-primary"
            disabled={skip.isPending}
            onClick={() => skip.mutate()}
          >
            {t('nodes.skip')}
          </button>
        </>
      }
    >
      <p className="mb-3 text-muted">{t('nodes.skip_explain')}</p>
      <label className="block">
        <span className="mb-1 block">{t('reason.label')}</span>
        <input
          className="input"
          maxLength={1000}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
    </Modal>
  );
}

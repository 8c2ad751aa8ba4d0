// Cards of a workflow run: the times of its nodes as bars, and the table of them with what the graph shows, from
// which nodes are skipped.
import '../../workflows/texts.en';
import '../detail/texts.en';
import { Link } from '@tanstack/react-router';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { call } from '../../../api/client';
import { serverNow } from '../../../lib/server_clock';
import type { Run } from '../../../api/types';
import { useRunNodes, type RunNode, type RunNodes } from '../../../api/workflows';
import { useDenied } from '../../../auth/session';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { useNow } from '../../../lib/clock';
import { span } from '../../../lib/format';
import { usePreferences } from '../../../lib/preferences';
import { DataTable, type Column } from '../../../ui/data_table';
import { Modal } from '../../../ui/dialogs/modal';
import { StateBadge } from '../../../ui/state_badge';
import { Time } from '../../../ui/time';
import { toastError } from '../../../ui/toasts';
import { Card, LoadFailure, Loading, explain } from '../../../ui/ui';
import { ApprovalMessage } from './approval_message';
import { waitText } from '../../workflows/edge_text';
import { isAwaiting, isOpened, useNodeActions, type NodeAction } from './node_actions';
import { barsOf, msOf } from './node_times';

export default function NodesCard({ run }: { run: Run }) {
  const nodes = useRunNodes(run);
  if (nodes.isPending) return <Loading />;
  if (!nodes.data) return <LoadFailure error={nodes.error} onRetry={() => void nodes.refetch()} />;
  return <Known run={run} shown={nodes.data} />;
}

function Known({ run, shown }: { run: Run; shown: RunNodes }) {
  const { t } = useTranslation();
  const { actionsOf, dialogs } = useNodeActions(run, shown);
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
      // The banner above has the decision.
      cell: (node) => <Actions actions={actionsOf(node).filter(({ id }) => id !== 'decide')} />,
    },
  ];
  return (
    <>
      <Held run={run} shown={shown} />
      <Opened shown={shown} actionsOf={actionsOf} />
      <Card title={t('nodes.time')}>
        <Bars nodes={shown.nodes} />
      </Card>
      <div className="card overflow-hidden">
        <DataTable label={t('nodes.title')} columns={columns} rows={rows} rowId={(node) => node.id} />
      </div>
      {dialogs}
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
function Opened(props: { shown: RunNodes; actionsOf: (node: RunNode) => NodeAction[] }) {
  const { t } = useTranslation();
  const { shown } = props;
  const open = shown.nodes.filter((node) => node.kind === 'approval' && isOpened(node));
  return (
    <>
      {open.length > 0 && (
        <p role="status" className="sr-only">
          {t('nodes.undecided_n', { count: open.length })}
        </p>
      )}
      {open.map((node) => (
        <div
          key={node.id}
          className="mb-4 flex flex-wrap items-center gap-3 rounded-md bg-idle-soft px-4 py-2.5 text-idle"
        >
          <div className="min-w-0 grow">
            <p>
              {t('nodes.waits_decision', { node: node.id })}{' '}
              {node.until && (
                <>
                  {t('nodes.until')} <Time at={node.until} />
                </>
              )}
            </p>
            <ApprovalMessage text={node.message} className="text-ink" />
          </div>
          <Actions actions={props.actionsOf(node).filter(({ id }) => id === 'decide')} isMain />
        </div>
      ))}
    </>
  );
}

// `isMain`: the first thing to do on the page.
function Actions({ actions, isMain }: { actions: readonly NodeAction[]; isMain?: boolean }) {
  return (
    <span className="inline-flex flex-wrap gap-2">
      {actions.map(({ icon: Icon, ...action }) => (
        <button
          key={action.id}
          type="button"
          className={'button ' + (isMain ? 'button-primary' : action.isBrief ? 'button-icon' : '')}
          aria-label={action.named}
          disabled={action.disabled}
          title={action.title ?? (action.isBrief ? action.label : undefined)}
          onClick={action.choose}
        >
          {Icon && <Icon aria-hidden size={15} />}
          {!action.isBrief && action.label}
        </button>
      ))}
    </span>
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

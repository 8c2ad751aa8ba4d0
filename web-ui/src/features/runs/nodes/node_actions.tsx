// The actions of a node of a run, for its row in the table and for its menu in the graph, and their dialogs.
import '../../workflows/texts.en';
import { RotateCcw, SkipForward, Unlock, type LucideIcon } from 'lucide-react';
import { Suspense, lazy, useState, type ReactNode } from 'react';
import type { Run } from '../../../api/types';
import type { RunNode, RunNodes } from '../../../api/workflows';
import { useDenied } from '../../../auth/session';
import { statePermits } from '../../../auth/state_permits';
import { useTranslation } from '../../../i18n/use_translation';
import { showLog } from './shown_log';

const ReleaseDialog = lazy(() => import('../../lists/runs/release_dialog'));
const DecideDialog = lazy(() => import('./decide_dialog'));
const RetryNodesDialog = lazy(() => import('./retry_nodes_dialog'));
const SkipDialog = lazy(() => import('./skip_dialog'));

const SKIPPABLE = new Set(['PENDING', 'HELD', 'FAILED', 'TIMED_OUT', 'CANCELLED', 'LOST', 'SKIPPED']);
const NO_FAILURES = new Set(['skipped_by_hand', 'not_selected', 'upstream_failed']);
// True if the node waits for runs of other jobs, before it waits for other nodes. Older servers do not say so.
export const isAwaiting = (node: RunNode) => node.awaiting === true;
// True if the node waits for a decision or a time.
export const isOpened = (node: RunNode) =>
  (node.kind === 'approval' || node.kind === 'wait') && node.state === 'PENDING' && !node.blocked;
// True if the node's state permits a skip. The server says so to those who may act on the run.
const maySkip = (run: Run, node: RunNode) =>
  run.allowed_actions?.length
    ? statePermits(run, 'skip') && node.allowed_actions.includes('skip')
    : SKIPPABLE.has(node.state) && !NO_FAILURES.has(node.reason ?? '');
// A node that runs a workflow or a list has runs of its own, which have the logs.
const hasLog = (node: RunNode) =>
  node.started_at !== null &&
  (node.kind === 'job' || node.kind === 'task') &&
  node.job_type !== 'workflow' &&
  (node.items ?? null) === null;

type Kind = 'decide' | 'release' | 'skip' | 'retry';
export interface NodeAction {
  id: Kind | 'log';
  icon?: LucideIcon;
  label: string;
  named: string; // the label with the node's name
  isBrief?: boolean; // a row shows the icon only
  disabled?: boolean;
  title?: string;
  choose: () => void;
}

export function useNodeActions(run: Run, shown: Pick<RunNodes, 'state'> | undefined) {
  const { t } = useTranslation();
  const denied = useDenied();
  const [asked, setAsked] = useState<{ kind: Kind; node: RunNode } | null>(null);
  const actionsOf = (node: RunNode): NodeAction[] => {
    const may = (name: RunNode['allowed_actions'][number]) => node.allowed_actions?.includes(name) ?? false;
    const why = denied(run, 'skip');
    const ask = (kind: Kind) => () => setAsked({ kind, node });
    const named = (key: string) => t(key, { node: node.id });
    const log = { label: t('nodes.log'), named: named('nodes.log_of') };
    const decide = { label: t('nodes.decide'), named: named('nodes.decide_node') };
    const release = { icon: Unlock, label: t('nodes.release'), named: named('nodes.release_node') };
    const retry = { icon: RotateCcw, label: t('nodes.retry'), named: named('nodes.retry_node') };
    const skip = { icon: SkipForward, label: t('nodes.skip'), named: named('nodes.skip_node') };
    const all: (NodeAction | false)[] = [
      hasLog(node) && { id: 'log', ...log, choose: () => showLog(node.run_id) },
      isOpened(node) && may('decide') && { id: 'decide', ...decide, choose: ask('decide') },
      isAwaiting(node) && may('release') && { id: 'release', ...release, choose: ask('release') },
      may('retry') && { id: 'retry', ...retry, isBrief: true, choose: ask('retry') },
      shown?.state === 'RUNNING' &&
        maySkip(run, node) && {
          id: 'skip',
          ...skip,
          disabled: Boolean(why),
          title: why && t(why),
          choose: ask('skip'),
        },
    ];
    return all.filter((one) => one !== false);
  };
  const dialogs = asked && (
    <Suspense>
      <Dialog run={run} asked={asked} onClose={() => setAsked(null)} />
    </Suspense>
  );
  return { actionsOf, dialogs };
}

function Dialog(props: { run: Run; asked: { kind: Kind; node: RunNode }; onClose: () => void }): ReactNode {
  const { run, onClose } = props;
  const { kind, node } = props.asked;
  switch (kind) {
    case 'decide':
      return <DecideDialog workflow={run.run_id} node={node} onClose={onClose} />;
    case 'release':
      return <ReleaseDialog id={node.run_id} onClose={onClose} />;
    case 'retry':
      return <RetryNodesDialog run={run} node={node.id} onClose={onClose} />;
    case 'skip':
      return <SkipDialog run={run} node={node.id} onClose={onClose} />;
  }
}

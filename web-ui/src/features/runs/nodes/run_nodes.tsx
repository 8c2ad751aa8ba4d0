// Parts of the page of a workflow run: its graph with the state of each node and the log of one, over the whole
// width, or the cards below it. One file, because both are always shown. On a phone the graph comes last.
import '../../workflows/texts.en';
import { Link } from '@tanstack/react-router';
import { Suspense, lazy, useMemo, useState, type MouseEvent } from 'react';
import type { Run } from '../../../api/types';
import { useRunNodes } from '../../../api/workflows';
import { useTranslation } from '../../../i18n/use_translation';
import { useNarrow } from '../../../lib/narrow';
import { Card, Loading } from '../../../ui/ui';
import { useNodeActions } from './node_actions';
import type { MenuPlace } from './node_menu';
import NodesCard from './nodes_card';
import { useShownLog } from './shown_log';
import { WorkflowGraph } from '../../workflows/workflow_graph';

const NodeLog = lazy(() => import('./node_log'));
const NodeMenu = lazy(() => import('./node_menu'));

export default function RunNodes({ run, graph }: { run: Run; graph?: boolean }) {
  const narrow = useNarrow();
  if (graph) return narrow ? null : <Graph run={run} />;
  return (
    <>
      <NodesCard run={run} />
      {narrow && <Graph run={run} />}
    </>
  );
}

// The table of the nodes reads them, and says why if they cannot be read.
function Graph({ run }: { run: Run }) {
  const { t } = useTranslation();
  const { data, isPending } = useRunNodes(run, false);
  const { actionsOf, dialogs } = useNodeActions(run, data);
  const [place, setPlace] = useState<MenuPlace | null>(null);
  const log = useShownLog();
  const nodes = useMemo(
    () =>
      data?.nodes.map((node) => ({
        ...node,
        state: node.blocked ? 'BLOCKED' : node.state,
        name: node.job_id === null ? t(`nodes.kind_${node.kind}`) : node.job_name,
      })),
    [data, t],
  );
  if (isPending) return <Loading />;
  if (!data || !nodes) return null;
  const pointed = place && data.nodes.find((node) => node.id === place.id);
  const logged = data.nodes.find((node) => node.run_id === log);
  const openMenu = (event: MouseEvent) => {
    const id = (event.target as HTMLElement).closest<HTMLElement>('.react-flow__node')?.dataset.id;
    if (id === undefined) return;
    event.preventDefault();
    setPlace({ id, x: event.clientX, y: event.clientY });
  };
  return (
    <div className={logged ? 'mb-4 grid gap-4 xl:grid-cols-2' : 'mb-4'} onContextMenu={openMenu}>
      <Card title={t('nodes.graph')} className="min-w-0">
        <WorkflowGraph
          nodes={nodes}
          link={(node, link) => <Link to="/runs/$id" params={{ id: node.run_id }} {...link} />}
        />
      </Card>
      {logged && (
        <Suspense>
          <NodeLog node={logged} />
        </Suspense>
      )}
      {place && pointed && (
        <Suspense>
          <NodeMenu
            place={place}
            node={pointed}
            actions={actionsOf(pointed)}
            onClose={() => setPlace(null)}
          />
        </Suspense>
      )}
      {dialogs}
    </div>
  );
}

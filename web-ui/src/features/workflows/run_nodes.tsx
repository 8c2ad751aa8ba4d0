// Parts of the page of a workflow run: its graph with the state of each node, over the whole width, or the cards
// below it. One file, because both are always shown.
import './texts.en';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Run } from '../../api/types';
import { useRunNodes } from '../../api/workflows';
import { useTranslation } from '../../i18n/use_translation';
import { Card, Loading } from '../../ui/ui';
import NodesCard from './nodes_card';
import { WorkflowGraph } from './workflow_graph';

export default function RunNodes({ run, graph }: { run: Run; graph?: boolean }) {
  return graph ? <Graph run={run} /> : <NodesCard run={run} />;
}

// The table of the nodes reads them, and says why if they cannot be read.
function Graph({ run }: { run: Run }) {
  const { t } = useTranslation();
  const { data, isPending } = useRunNodes(run, false);
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
  if (!nodes) return null;
  return (
    <Card title={t('nodes.graph')} className="mb-4">
      <WorkflowGraph
        nodes={nodes}
        link={(node, link) => <Link to="/runs/$id" params={{ id: node.run_id }} {...link} />}
      />
    </Card>
  );
}

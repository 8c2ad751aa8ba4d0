// Tab of a workflow's job: its graph, and the same as a table, which comes first on a phone.
import './texts.en';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useGraph, type JobGraph } from '../../api/workflows';
import { useTranslation } from '../../i18n/use_translation';
import { useNarrow } from '../../lib/narrow';
import { DataTable, type Column } from '../../ui/data_table';
import { StateBadge } from '../../ui/state_badge';
import { Card, LoadFailure, Loading } from '../../ui/ui';
import { afterText } from './edge_text';
import { WorkflowGraph } from './workflow_graph';

type Node = JobGraph['nodes'][number];

export default function GraphTab({ id }: { id: string }) {
  const { t } = useTranslation();
  const graph = useGraph(id);
  const narrow = useNarrow();
  const nodes = useMemo(
    () =>
      (graph.data?.nodes ?? []).map((node) => ({
        ...node,
        name: node.job_id === null ? t(`nodes.kind_${node.kind}`) : node.job_name,
      })),
    [graph.data, t],
  );
  if (graph.isPending) return <Loading />;
  if (!graph.data) return <LoadFailure error={graph.error} onRetry={() => void graph.refetch()} />;
  const columns: Column<Node>[] = [
    { id: 'name', header: t('nodes.node'), cell: (node) => <span className="mono">{node.id}</span> },
    { id: 'job', header: t('nodes.job'), cell: (node) => <JobOf node={node} /> },
    { id: 'after', header: t('nodes.after'), cell: (node) => afterText(node, t) || '–' },
    { id: 'rule', header: t('nodes.rule'), cell: (node) => ruleText(node.trigger_rule, t) },
    {
      id: 'allow_failure',
      header: t('nodes.allow_failure'),
      cell: (node) => (node.allow_failure ? t('nodes.yes') : '–'),
    },
  ];
  if (graph.data.nodes.some((node) => node.finally)) {
    columns.push({
      id: 'finally',
      header: t('nodes.finally'),
      cell: (node) => (node.finally ? t('nodes.yes') : '–'),
    });
  }
  const drawing = (
    <Card title={t('nodes.graph')}>
      <WorkflowGraph
        nodes={nodes}
        leads={(node) => node.job_id !== null && node.job_name !== null}
        link={(node, link) => <Link to="/jobs/$id" params={{ id: node.job_id ?? id }} {...link} />}
      />
    </Card>
  );
  return (
    <div className="grid gap-4">
      {!narrow && drawing}
      <div className="card overflow-hidden">
        <DataTable
          label={t('nodes.title')}
          columns={columns}
          rows={graph.data.nodes}
          rowId={(node) => node.id}
        />
      </div>
      {narrow && drawing}
    </div>
  );
}

function JobOf({ node }: { node: Node }) {
  const { t } = useTranslation();
  if (node.job_id === null) return <span className="text-muted">{t(`nodes.kind_${node.kind}`)}</span>;
  if (node.job_name === null)
    return (
      <span className="text-muted">
        {node.job_id} · {t('nodes.no_job')}
      </span>
    );
  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      <Link to="/jobs/$id" params={{ id: node.job_id }} className="link inline-flex min-h-6 items-center">
        {node.job_name}
      </Link>
      {node.job_state === 'PAUSED' && <StateBadge state="PAUSED" />}
    </span>
  );
}

const ruleText = (rule: Node['trigger_rule'], t: ReturnType<typeof useTranslation>['t']): string =>
  rule === 'all'
    ? t('nodes.rule_all')
    : rule === 'any'
      ? t('nodes.rule_any')
      : typeof rule === 'number'
        ? t('nodes.rule_n', { count: rule })
        : rule.succeeded === 'all'
          ? t('nodes.rule_succeeded_all')
          : t('nodes.rule_succeeded', { count: rule.succeeded });

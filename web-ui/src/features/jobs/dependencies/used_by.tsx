// The workflows that run a job, each with the nodes that do.
import './texts.en';
import { Link } from '@tanstack/react-router';
import { useDependencies, type Dependency } from '../../../api/dependencies';
import { useGraph } from '../../../api/workflows';
import { useTranslation } from '../../../i18n/use_translation';
import { Card } from '../../../ui/ui';

const NAMED_MAX = 5; // nodes
const READ_MAX = 20; // workflows of which the nodes are read

// Shows nothing if no workflow runs the job.
export default function UsedByCard({ id }: { id: string }) {
  const { t } = useTranslation();
  const dependencies = useDependencies(id);
  const workflows = (dependencies.data?.downstream ?? []).filter(({ kind }) => kind === 'node');
  if (workflows.length === 0) return null;
  return (
    <Card title={t('deps.used_by')}>
      <UsedBy id={id} workflows={workflows} />
    </Card>
  );
}

export function UsedBy({ id, workflows }: { id: string; workflows: readonly Dependency[] }) {
  const { t } = useTranslation();
  return (
    <ul aria-label={t('deps.used_by')} className="grid gap-1">
      {workflows.map((one, i) => (
        <li key={one.job_id} className="flex min-h-6 flex-wrap items-center gap-x-2 wrap-anywhere">
          {one.deleted ? (
            <span>{one.job_name || one.job_id}</span>
          ) : (
            <Link
              to="/jobs/$id"
              params={{ id: one.job_id }}
              search={{ tab: 'graph' }}
              className="link inline-flex min-h-6 items-center"
            >
              {one.job_name || one.job_id}
            </Link>
          )}
          {!one.deleted && i < READ_MAX && <Nodes of={one.job_id} job={id} />}
        </li>
      ))}
    </ul>
  );
}

function Nodes({ of, job }: { of: string; job: string }) {
  const { t } = useTranslation();
  const graph = useGraph(of);
  const ids = (graph.data?.nodes ?? []).filter(({ job_id }) => job_id === job).map(({ id }) => id);
  if (ids.length === 0) return null;
  const nodes = ids.slice(0, NAMED_MAX).join(', ') + (ids.length > NAMED_MAX ? ', …' : '');
  return <span className="text-muted">{t('deps.by_nodes', { count: ids.length, nodes })}</span>;
}

// List of the jobs that are workflows.
import '../jobs/detail/texts.en';
import '../jobs/list/texts.en';
import './texts.en';
import { Link, getRouteApi } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { Suspense } from 'react';
import { itemsOf, useJobs } from '../../api/queries';
import type { Job } from '../../api/types';
import { useMay } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { early } from '../../lib/preload';
import { DataTable, type Column } from '../../ui/data_table';
import { SearchField } from '../../ui/search_field';
import { StateBadge } from '../../ui/state_badge';
import { Time } from '../../ui/time';
import { ListCard } from '../../ui/list_card';
import { EmptyYet, PageHeader } from '../../ui/ui';
import { zoneOf } from '../schedule/schedule_text';
import { useLastRuns } from '../lists/runs/last_runs';

const RunStrip = early(() => import('../lists/runs/run_strip'));
const route = getRouteApi('/workflows');
const LAST_RUNS = 10;

export function WorkflowsPage() {
  const { t } = useTranslation();
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay('jobs:write');
  const jobs = useJobs({ type: 'workflow', ...(q ? { q } : {}) });
  const items = itemsOf(jobs.data);
  const clear = () => void navigate({ search: {} });
  return (
    <>
      <PageHeader
        title={t('workflows.title')}
        documentTitle={t('workflows.title')}
        under={t('workflows.under')}
        actions={
          <Link
            to="/jobs/new"
            className="button button-primary"
            disabled={!may}
            title={may ? undefined : t('denied.write')}
          >
            <Plus aria-hidden size={16} />
            {t('jobs.new')}
          </Link>
        }
      />
      <div className="mb-3">
        <SearchField
          label={t('jobs.search')}
          value={q ?? ''}
          onChange={(text) => void navigate({ search: { q: text || undefined }, replace: true })}
        />
      </div>
      <ListCard
        query={jobs}
        match={q ? clear : undefined}
        empty={
          <EmptyYet
            title={t('workflows.none')}
            hint={t('workflows.none_hint')}
            command="carillon apply -f workflow.yaml"
          />
        }
      >
        {items.length > 0 && <Workflows jobs={items} />}
      </ListCard>
    </>
  );
}

function Workflows({ jobs }: { jobs: Job[] }) {
  const { t } = useTranslation();
  const last = useLastRuns(
    jobs.map((job) => job.job_id),
    LAST_RUNS,
  );
  const columns: Column<Job>[] = [
    { id: 'state', header: t('jobs.state'), cell: (job) => <StateBadge state={job.state} /> },
    {
      id: 'name',
      header: t('workflows.name'),
      cell: (job) => (
        <Link to="/jobs/$id" params={{ id: job.job_id }} search={{ tab: 'graph' }} className="link">
          {job.name}
        </Link>
      ),
    },
    { id: 'nodes', header: t('nodes.title'), cell: (job) => job.workflow?.nodes.length ?? '–' },
    {
      id: 'next',
      header: t('jobs.next'),
      cell: (job) =>
        job.problem ? (
          <span className="text-bad">{job.problem}</span>
        ) : (
          <Time at={job.next_fire_time} zone={zoneOf(job)} />
        ),
    },
    {
      id: 'last',
      header: t('strip.column'),
      cell: (job) => {
        const runs = last?.get(job.job_id);
        return (
          <div className="min-h-6 min-w-[120px]">
            {runs && (
              <Suspense>
                <RunStrip runs={runs} name={job.name} zone={zoneOf(job)} />
              </Suspense>
            )}
          </div>
        );
      },
    },
  ];
  return <DataTable label={t('workflows.title')} columns={columns} rows={jobs} rowId={(job) => job.job_id} />;
}

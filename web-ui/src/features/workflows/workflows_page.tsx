// List of the jobs that are workflows.
import '../jobs/detail/texts.en';
import '../jobs/list/texts.en';
import './texts.en';
import { Link, getRouteApi } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { Suspense } from 'react';
import { itemsOf, useJobs } from '../../api/queries';
import type { Job, RecentRun } from '../../api/types';
import { useEndedNodes } from '../../api/workflows';
import { useMay } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { useNow } from '../../lib/clock';
import { span } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { early } from '../../lib/preload';
import { DataTable, type Column } from '../../ui/data_table';
import { SearchField } from '../../ui/search_field';
import { StateBadge } from '../../ui/state_badge';
import { Time } from '../../ui/time';
import { ListCard } from '../../ui/list_card';
import { EmptyYet, PageHeader } from '../../ui/ui';
import { zoneOf } from '../schedule/schedule_text';
import { duration } from '../lists/runs/duration';
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
      id: 'newest',
      header: t('workflows.newest'),
      cell: (job) => <Newest run={last?.get(job.job_id)?.[0]} zone={zoneOf(job)} />,
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

// How the newest run ended and how long it took; of a run that is not over, how many of its nodes are.
function Newest({ run, zone }: { run: RecentRun | undefined; zone?: string }) {
  const { language } = usePreferences();
  const now = useNow();
  if (!run) return <span className="text-muted">–</span>;
  const took = duration(run, now);
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      <StateBadge state={run.state} />
      <Link
        to="/runs/$id"
        params={{ id: run.run_id }}
        className="link inline-flex min-h-6 items-center"
        preload={false}
      >
        <Time at={run.fire_time} zone={zone} />
      </Link>
      {run.state === 'RUNNING' ? (
        <EndedNodes run={run.run_id} />
      ) : (
        took !== null && <span className="text-muted tabular-nums">{span(took, language)}</span>
      )}
    </span>
  );
}

function EndedNodes({ run }: { run: string }) {
  const { t } = useTranslation();
  const counted = useEndedNodes(run);
  return counted && <span className="text-muted tabular-nums">{t('workflows.ended', counted)}</span>;
}

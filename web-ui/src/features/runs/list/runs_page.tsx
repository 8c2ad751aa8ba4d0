// Page of all runs. All filters are in the URL.
import '../../events/texts.en';
import './texts.en';
import { Link, getRouteApi } from '@tanstack/react-router';
import { ArrowUp } from 'lucide-react';
import { Suspense, useRef } from 'react';
import { totalOf, useRuns } from '../../../api/queries';
import type { Run } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { early } from '../../../lib/preload';
import { Time } from '../../../ui/time';
import { ListRows } from '../../../ui/list_card';
import { EmptyYet, PageHeader } from '../../../ui/ui';
import { useColumns } from '../../lists/columns';
import { ListBar, useSelectable, useTickColumn } from '../../lists/list_bar';
import { RunTable } from '../../lists/runs/run_table';
import { nameOfRun } from '../../bulk/run_name';
import { usePinnedRows } from './pinned_rows';

const route = getRouteApi('/runs');
const rowOf = (run: Run) => ({ id: run.run_id, name: nameOfRun(run), state: run.state });
const idOf = (run: Run) => run.run_id;
const FilterBar = early(() => import('./filter_bar'));

export function RunsPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { sort, ...filter } = search;
  const runs = useRuns({ ...search });
  const { rows: items, news, accept } = usePinnedRows(runs, JSON.stringify(search), idOf);
  const box = useRef<HTMLDivElement>(null);
  const columns = useColumns('run', [
    { id: 'state', label: t('runs.state'), usual: true },
    { id: 'kind', label: t('runs.kind'), usual: true },
    { id: 'duration', label: t('runs.duration'), usual: true },
    { id: 'executor', label: t('runs.executor'), usual: true },
    { id: 'why', label: t('runs.why'), usual: true },
    { id: 'started', label: t('step.started'), usual: false },
    { id: 'ended', label: t('step.ended'), usual: false },
  ]);
  const list = useSelectable({
    kind: 'run',
    search: filter,
    rows: items.map(rowOf),
    hasMore: runs.hasNextPage,
    total: totalOf(runs.data),
    columns,
  });
  const ticks = useTickColumn(list, rowOf);
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...change }) });
  const filtered = Object.values(filter).some((value) => value !== undefined && value.length > 0);
  const clear = () => void navigate({ search: { sort } });
  return (
    <>
      <PageHeader
        title={t('nav.runs')}
        documentTitle={t('nav.runs')}
        actions={
          <Link to="/events" className="button">
            {t('events.title')}
          </Link>
        }
      />
      <div className="mb-3 grid gap-2">
        <Suspense fallback={<div className="min-h-[65.5px]" />}>
          <FilterBar search={search} set={set} onClear={filtered ? clear : undefined} />
        </Suspense>
      </div>
      <ListBar list={list} always={t('runs.job')} />
      <div ref={box} tabIndex={-1} className="card relative overflow-hidden outline-none">
        <p role="status" className="absolute top-1 left-1/2 z-10 -translate-x-1/2">
          {news > 0 && (
            <button
              type="button"
              className="button button-primary rounded-full"
              onClick={() => {
                accept();
                box.current?.focus(); // the button that had the focus is removed
              }}
            >
              <ArrowUp aria-hidden size={15} />
              {t('runs.news', { n: news })}
            </button>
          )}
        </p>
        <ListRows
          query={runs}
          match={filtered ? clear : undefined}
          empty={
            <EmptyYet
              title={t('runs.none')}
              hint={t('runs.none_hint')}
              command="carillon job run JOB --wait"
            />
          }
        >
          {items.length > 0 && (
            <RunTable
              runs={items}
              withJob
              first={ticks}
              isShown={columns.isShown}
              sorting={{ by: sort, usual: '-fire_time', onSort: (by) => set({ sort: by }) }}
              last={[
                { id: 'started', header: t('step.started'), cell: (run) => <Time at={run.started_at} /> },
                { id: 'ended', header: t('step.ended'), cell: (run) => <Time at={run.ended_at} /> },
              ]}
            />
          )}
        </ListRows>
      </div>
    </>
  );
}

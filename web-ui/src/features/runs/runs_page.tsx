// The fleet's history; every filter is in the URL.
import { getRouteApi } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { itemsOf, totalOf, useExecutors, useRuns } from '../../api/queries';
import { RUN_STATES, type Run } from '../../api/types';
import { SearchField } from '../../shared/search_field';
import { Time } from '../../shared/time';
import { EmptyMatch, EmptyYet, LoadFailure, Loading, MoreButton, PageHeader, searchedTo } from '../../shared/ui';
import { useColumns } from '../lists/columns';
import { ListBar, useSelectable, useTickColumn } from '../lists/list_bar';
import { NamespaceFilter } from '../jobs/namespace_filter';
import { KindFilter, OwnerFilter } from './run_filters';
import { RunTable } from './run_table';
import { nameOfRun } from './run_text';
import { StateFilter } from './state_filter';

const route = getRouteApi('/runs');
const rowOf = (run: Run) => ({ id: run.run_id, name: nameOfRun(run), state: run.state });
const PERIODS_H = [1, 24, 168] as const;

export function RunsPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const executors = itemsOf(useExecutors().data);
  const { sort, ...filter } = search;
  const runs = useRuns({ ...search });
  const items = itemsOf(runs.data);
  const columns = useColumns('run', [
    { id: 'state', label: t('runs.state'), usual: true },
    { id: 'kind', label: t('runs.kind'), usual: true },
    { id: 'duration', label: t('runs.duration'), usual: true },
    { id: 'executor', label: t('runs.executor'), usual: true },
    { id: 'why', label: t('runs.why'), usual: true },
    { id: 'started', label: t('step.started'), usual: false },
    { id: 'ended', label: t('step.ended'), usual: false },
  ]);
  const list = useSelectable({ kind: 'run', search: filter, rows: items.map(rowOf), hasMore: runs.hasNextPage, total: totalOf(runs.data), columns });
  const ticks = useTickColumn(list, rowOf);
  const set = (change: Partial<typeof search>) => void navigate({ search: (before) => ({ ...before, ...change }) });
  const filtered = Object.values(filter).some((value) => value !== undefined && value.length > 0);
  return (
    <>
      <PageHeader title={t('nav.runs')} documentTitle={t('nav.runs')} />
      <div className="mb-3 grid gap-2">
        <StateFilter states={RUN_STATES} chosen={search.state ?? []} onChange={(state) => set({ state })} />
        <div className="flex flex-wrap items-center gap-2">
          <SearchField label={t('runs.job_id')} value={search.job_id ?? ''} onChange={(job_id) => set({ job_id: job_id || undefined })} />
          <select className="input w-auto" aria-label={t('runs.executor')} value={search.executor_id ?? ''}
            onChange={(event) => set({ executor_id: event.target.value || undefined })}>
            <option value="">{t('runs.any_executor')}</option>
            {search.executor_id && !executors.some((one) => one.executor_id === search.executor_id) && (
              <option value={search.executor_id}>{search.executor_id}</option>
            )}
            {executors.map((one) => <option key={one.executor_id} value={one.executor_id}>{one.executor_id}</option>)}
          </select>
          <KindFilter chosen={search.kind} onChange={(kind) => set({ kind })} />
          <NamespaceFilter chosen={search.namespace} onChange={(namespace) => set({ namespace })} />
          <OwnerFilter chosen={search.user_id} onChange={(user_id) => set({ user_id })} />
          <Since value={search.since} onChange={(since) => set({ since })} />
          {search.until && <span className="text-muted">{t('runs.until', { at: search.until })}</span>}
          {filtered && (
            <button type="button" className="button button-plain" onClick={() => void navigate({ search: {} })}>
              <X aria-hidden size={15} />{t('empty.clear')}
            </button>
          )}
        </div>
      </div>
      <ListBar list={list} always={t('runs.job')} />
      <div className="card overflow-hidden">
        {runs.isPending ? <Loading />
          : runs.isError && items.length === 0 ? <LoadFailure error={runs.error} onRetry={() => void runs.refetch()} />
          : items.length > 0 ? <RunTable runs={items} withJob first={ticks} isShown={columns.isShown}
              sorting={{ by: sort, usual: '-fire_time', onSort: (by) => set({ sort: by }) }} last={[
              { id: 'started', header: t('step.started'), cell: (run) => <Time at={run.started_at} /> },
              { id: 'ended', header: t('step.ended'), cell: (run) => <Time at={run.ended_at} /> },
            ]} />
          : searchedTo(runs) ? null
          : filtered ? <EmptyMatch onClear={() => void navigate({ search: {} })} />
          : <EmptyYet title={t('runs.none')} hint={t('runs.none_hint')} command="carillon job run JOB --wait" />}
        <MoreButton query={runs} />
      </div>
    </>
  );
}

function Since(props: { value: string | undefined; onChange: (value: string | undefined) => void }) {
  const { t } = useTranslation();
  return (
    <select className="input w-auto" aria-label={t('runs.since')} value={props.value ?? ''}
      onChange={(event) => {
        const hours = Number(event.target.value);
        if (event.target.value === '') props.onChange(undefined);
        else if (hours > 0) props.onChange(new Date(Date.now() - hours * 3_600_000).toISOString());
      }}>
      <option value="">{t('runs.any_time')}</option>
      {props.value && <option value={props.value}>{t('runs.since_at', { at: props.value.slice(0, 16).replace('T', ' ') })}</option>}
      {PERIODS_H.map((hours) => <option key={hours} value={hours}>{t(`runs.last_${hours}h`)}</option>)}
    </select>
  );
}

// List of all jobs with their next fires. It has actions on many jobs.
import '../detail/texts.en';
import './texts.en';
import '../../workflows/texts.en';
import { Link, getRouteApi } from '@tanstack/react-router';
import { Plus, Upload, Workflow } from 'lucide-react';
import { itemsOf, totalOf, useJobs } from '../../../api/queries';
import { useMay } from '../../../auth/session';
import { useTranslation } from '../../../i18n/use_translation';
import { SearchField } from '../../../ui/search_field';
import { ListRows } from '../../../ui/list_card';
import { EmptyYet, PageHeader, Segments } from '../../../ui/ui';
import { useColumns } from '../../lists/columns';
import { ListBar, useSelectable } from '../../lists/list_bar';
import { OwnerFilter } from '../../lists/filters/run_filters';
import { ExportButton } from '../transfer/export_button';
import { FilterChips, LabelField } from './filter_chips';
import { NamespaceFilter } from '../../lists/filters/namespace_filter';
import { useOwnerText, useOwners } from '../../users/owners';
import { PageSize } from './page_size';
import { JobsTable, rowOf } from './jobs_table';

const route = getRouteApi('/jobs');

export function JobsPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay('jobs:write');
  const { users } = useOwners();
  const ownerOf = useOwnerText();
  const { page_size, sort, ...filter } = search;
  const jobs = useJobs({
    ...filter,
    ...(sort ? { sort } : {}),
    ...(page_size ? { page_size: Number(page_size) } : {}),
  });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...change }) });
  const items = itemsOf(jobs.data);
  const filtered = Object.values(filter).some(Boolean);
  const columns = useColumns('job', [
    { id: 'state', label: t('jobs.state'), usual: true },
    { id: 'schedule', label: t('jobs.schedule'), usual: true },
    { id: 'next', label: t('jobs.next'), usual: true },
    { id: 'result', label: t('jobs.last_result'), usual: true },
    { id: 'last', label: t('strip.column'), usual: true },
    { id: 'namespace', label: t('jobs.namespace'), usual: false },
    { id: 'owner', label: t('jobs.owner'), usual: true },
    { id: 'changed', label: t('jobs.changed'), usual: false },
  ]);
  const list = useSelectable({
    kind: 'job',
    search: filter,
    rows: items.map(rowOf),
    hasMore: jobs.hasNextPage,
    total: totalOf(jobs.data),
    columns,
  });
  const sorting = { by: sort, onSort: (by: string | undefined) => set({ sort: by }) };
  return (
    <>
      <PageHeader
        title={t('nav.jobs')}
        documentTitle={t('nav.jobs')}
        actions={
          <>
            <Link to="/workflows" className="button">
              <Workflow aria-hidden size={15} />
              {t('workflows.title')}
            </Link>
            <Link to="/import" className="button" disabled={!may} title={may ? undefined : t('denied.write')}>
              <Upload aria-hidden size={15} />
              {t('jobs.import')}
            </Link>
            <ExportButton jobs={items} selection={list.selection} filter={filter} />
            <Link
              to="/jobs/new"
              className="button button-primary"
              disabled={!may}
              title={may ? undefined : t('denied.write')}
            >
              <Plus aria-hidden size={16} />
              {t('jobs.new')}
            </Link>
          </>
        }
      />
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchField
          label={t('jobs.search')}
          value={search.q ?? ''}
          onChange={(q) =>
            void navigate({ search: (before) => ({ ...before, q: q || undefined }), replace: true })
          }
        />
        <Segments
          label={t('jobs.state')}
          value={search.paused_by ?? search.status ?? ''}
          choices={[
            { value: '', label: t('all') },
            { value: 'ENABLED', label: t('state.ENABLED') },
            { value: 'PAUSED', label: t('state.PAUSED') },
            { value: 'failures', label: t('jobs.paused_by_failures') },
          ]}
          onChange={(value) =>
            value === 'failures'
              ? set({ status: undefined, paused_by: 'failures' })
              : set({ status: (value || undefined) as typeof search.status, paused_by: undefined })
          }
        />
        <LabelField selector={search.selector} onChange={(selector) => set({ selector })} />
        {/* These two filters come last, because they appear only after their data has been loaded. */}
        <OwnerFilter chosen={search.user_id} users={users} onChange={(user_id) => set({ user_id })} />
        <NamespaceFilter chosen={search.namespace} onChange={(namespace) => set({ namespace })} />
      </div>
      <FilterChips
        selector={search.selector}
        owner={search.user_id && ownerOf(search.user_id)}
        onSelector={(selector) => set({ selector })}
        onOwner={() => set({ user_id: undefined })}
      />
      <ListBar list={list} always={t('jobs.name')} />
      <div className="card overflow-hidden">
        <ListRows
          query={jobs}
          match={filtered ? () => void navigate({ search: { page_size, sort } }) : undefined}
          empty={
            <EmptyYet
              title={t('jobs.none')}
              hint={t('jobs.none_hint')}
              action={
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
              command={
                "carillon job create --id hello --name Hello --cron '*/5 * * * *' --command 'echo hello'"
              }
            />
          }
        >
          {items.length > 0 && (
            <JobsTable jobs={items} list={list} selector={search.selector} sorting={sorting} />
          )}
        </ListRows>
        {items.length > 0 && (
          <div className="flex justify-end border-t px-3 py-2">
            <PageSize value={page_size} onChange={(size) => set({ page_size: size })} />
          </div>
        )}
      </div>
    </>
  );
}

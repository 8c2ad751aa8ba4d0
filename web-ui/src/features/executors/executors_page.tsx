// Page of the executors: state, last heartbeat, labels and load. It has actions on each executor and a button
// that adds an executor.
import './texts.en';
import { Link, getRouteApi } from '@tanstack/react-router';
import { Plus, X } from 'lucide-react';
import { Suspense, lazy, useState } from 'react';
import { itemsOf, useExecutors } from '../../api/queries';
import { EXECUTOR_STATES, type Executor } from '../../api/types';
import { useMay } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { SearchField } from '../../ui/search_field';
import { Time } from '../../ui/time';
import { EmptyMatch, EmptyYet, LoadFailure, Loading, MoreButton, PageHeader, TableFrame } from '../../ui/ui';
import { StateFilter } from '../lists/filters/state_filter';
import { ExecutorActions } from './executor_actions';
import { Behind, Load, Slots, States } from './executor_facts';

const JoinDialog = lazy(() => import('./join_dialog'));

export interface ExecutorSearch {
  state?: string[];
  q?: string;
  label?: string[];
}

const route = getRouteApi('/executors');

export function ExecutorsPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const executors = useExecutors({ ...search });
  const items = itemsOf(executors.data);
  const filtered = Object.values(search).some((value) => value !== undefined && value.length > 0);
  const set = (change: ExecutorSearch) => void navigate({ search: (before) => ({ ...before, ...change }) });
  const clear = () => void navigate({ search: {} });
  const may = useMay('executors:write');
  const [joining, setJoining] = useState(false);
  return (
    <>
      <PageHeader
        title={t('nav.executors')}
        documentTitle={t('nav.executors')}
        under={t('executors.under')}
        actions={
          <button
            type="button"
            className="button"
            disabled={!may}
            title={may ? undefined : t('denied.admin')}
            onClick={() => setJoining(true)}
          >
            <Plus aria-hidden size={15} />
            {t('join.title')}
          </button>
        }
      />
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchField
          label={t('executors.search')}
          value={search.q ?? ''}
          onChange={(q) => set({ q: q || undefined })}
        />
        <StateFilter
          states={EXECUTOR_STATES}
          chosen={search.state ?? []}
          onChange={(state) => set({ state })}
        />
        {(search.label ?? []).map((label) => (
          <button
            key={label}
            type="button"
            className="button"
            aria-label={t('executors.without', { label })}
            onClick={() => set({ label: search.label!.filter((one) => one !== label) })}
          >
            {label}
            <X aria-hidden size={15} />
          </button>
        ))}
        {filtered && (
          <button type="button" className="button button-plain" onClick={clear}>
            <X aria-hidden size={15} />
            {t('empty.clear')}
          </button>
        )}
      </div>
      <div className="card overflow-hidden">
        {executors.isPending ? (
          <Loading />
        ) : executors.isError && items.length === 0 ? (
          <LoadFailure error={executors.error} onRetry={() => void executors.refetch()} />
        ) : items.length === 0 && filtered ? (
          <EmptyMatch onClear={clear} />
        ) : items.length === 0 ? (
          <EmptyYet
            title={t('executors.none')}
            hint={t('executors.none_hint')}
            command="carillon-executor --config executor.yaml"
          />
        ) : (
          <TableFrame label={t('nav.executors')}>
            <table className="table cards">
              <thead>
                <tr>
                  <th scope="col">{t('executors.name')}</th>
                  <th scope="col">{t('runs.state')}</th>
                  <th scope="col">{t('executors.slots')}</th>
                  <th scope="col">{t('executors.load')}</th>
                  <th scope="col">{t('behind.title')}</th>
                  <th scope="col">{t('executors.heartbeat')}</th>
                  <th scope="col">{t('executors.version')}</th>
                  <th scope="col">
                    <span className="sr-only">{t('actions')}</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {items.map((one) => (
                  <Row key={one.executor_id} executor={one} />
                ))}
              </tbody>
            </table>
          </TableFrame>
        )}
        <MoreButton query={executors} />
      </div>
      <Suspense>{joining && <JoinDialog onClose={() => setJoining(false)} />}</Suspense>
    </>
  );
}

// Labels of an executor. A click on a label filters the list by this label.
function LabelLinks({ labels }: { labels: Record<string, string> }) {
  const { t } = useTranslation();
  const search = route.useSearch();
  return Object.entries(labels).map(([name, value]) => {
    const label = `${name}:${value}`;
    return (
      <Link
        key={name}
        to="/executors"
        search={{ ...search, label: [...new Set([...(search.label ?? []), label])] }}
        title={t('executors.only', { label })}
        className="inline-flex min-h-6 items-center rounded bg-raised px-1.5 text-xs text-muted no-underline hover:underline"
      >
        <span>
          {name}
          {value && (
            <>
              =<span className="text-ink">{value}</span>
            </>
          )}
        </span>
      </Link>
    );
  });
}

function Row({ executor }: { executor: Executor }) {
  return (
    <tr>
      <td data-column="name">
        <Link
          to="/executors/$id"
          params={{ id: executor.executor_id }}
          className="font-medium whitespace-nowrap text-ink no-underline hover:underline"
        >
          {executor.executor_id}
        </Link>
        <div className="mt-0.5 flex flex-wrap items-center gap-2">
          <span className="text-xs text-muted">{executor.host}</span>
          <LabelLinks labels={executor.labels} />
        </div>
      </td>
      <td>
        <States executor={executor} />
      </td>
      <td>
        <Slots running={executor.running} slots={executor.slots} />
      </td>
      <td>
        <Load load={executor.load} />
      </td>
      <td data-column="behind">
        <Behind tasks={executor.tasks_behind} />
      </td>
      <td>
        <Time at={executor.last_heartbeat_time} />
      </td>
      <td className="text-muted">{executor.version}</td>
      <td data-column="actions">
        <div className="flex flex-wrap justify-end gap-1">
          <ExecutorActions executor={executor} />
        </div>
      </td>
    </tr>
  );
}

// Who runs the jobs: state, age of the last heartbeat, labels, load; enable, disable, drain, label; how another one joins.
import '../../i18n/more';
import '../../i18n/seldom';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { Suspense, lazy, useState } from 'react';
import { itemsOf, useExecutors } from '../../api/queries';
import type { Executor } from '../../api/types';
import { useMay } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { Time } from '../../shared/time';
import { EmptyYet, Labels, LoadFailure, Loading, PageHeader, TableFrame } from '../../shared/ui';
import { ExecutorActions } from './executor_actions';
import { Behind, Load, Slots, States } from './executor_facts';

const JoinDialog = lazy(() => import('./join_dialog'));

export function ExecutorsPage() {
  const { t } = useTranslation();
  const executors = useExecutors();
  const items = itemsOf(executors.data);
  const may = useMay('executors:write');
  const [joining, setJoining] = useState(false);
  return (
    <>
      <PageHeader title={t('nav.executors')} documentTitle={t('nav.executors')} under={t('executors.under')} actions={
        <button type="button" className="button" disabled={!may} title={may ? undefined : t('denied.admin')} onClick={() => setJoining(true)}>
          <Plus aria-hidden size={15} />{t('join.title')}
        </button>
      } />
      <div className="card overflow-hidden">
        {executors.isPending ? <Loading />
          : executors.isError && items.length === 0 ? <LoadFailure error={executors.error} onRetry={() => void executors.refetch()} />
          : items.length === 0 ? <EmptyYet title={t('executors.none')} hint={t('executors.none_hint')} command="carillon-executor --config executor.yaml" />
          : (
            <TableFrame label={t('nav.executors')}>
              <table className="table cards">
                <thead><tr>
                  <th scope="col">{t('executors.name')}</th><th scope="col">{t('runs.state')}</th>
                  <th scope="col">{t('executors.slots')}</th><th scope="col">{t('executors.load')}</th>
                  <th scope="col">{t('behind.title')}</th>
                  <th scope="col">{t('executors.heartbeat')}</th><th scope="col">{t('executors.version')}</th>
                  <th scope="col"><span className="sr-only">{t('actions')}</span></th>
                </tr></thead>
                <tbody>{items.map((one) => <Row key={one.executor_id} executor={one} />)}</tbody>
              </table>
            </TableFrame>
          )}
      </div>
      <Suspense>{joining && <JoinDialog onClose={() => setJoining(false)} />}</Suspense>
    </>
  );
}

function Row({ executor }: { executor: Executor }) {
  return (
    <tr>
      <td data-column="name">
        <Link to="/executors/$id" params={{ id: executor.executor_id }} className="font-medium whitespace-nowrap text-ink no-underline hover:underline">{executor.executor_id}</Link>
        <div className="mt-0.5 flex flex-wrap items-center gap-2"><span className="text-xs text-muted">{executor.host}</span><Labels labels={executor.labels} /></div>
      </td>
      <td><States executor={executor} /></td>
      <td><Slots running={executor.running} slots={executor.slots} /></td>
      <td><Load load={executor.load} /></td>
      <td data-column="behind"><Behind tasks={executor.tasks_behind} /></td>
      <td><Time at={executor.last_heartbeat_time} /></td>
      <td className="text-muted">{executor.version}</td>
      <td data-column="actions"><div className="flex flex-wrap justify-end gap-1"><ExecutorActions executor={executor} /></div></td>
    </tr>
  );
}

// Page of one executor: its host, its state, and its runs.
import './texts.en';
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { get } from '../../api/client';
import { FAST_MS, isRefused, itemsOf, useEvery, useRuns } from '../../api/queries';
import type { Executor } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { Time } from '../../ui/time';
import { ListRows } from '../../ui/list_card';
import { Card, EmptyYet, Facts, Labels, LoadFailure, Loading, PageHeader } from '../../ui/ui';
import { RunTable } from '../lists/runs/run_table';
import { ExecutorActions } from './executor_actions';
import { executorPath } from './executor_path';
import { Behind, Features, Load, Slots, States } from './executor_facts';
import { HostReport } from './host_report';

const route = getRouteApi('/executors/$id');

export function ExecutorPage() {
  const { id } = route.useParams();
  const refetchInterval = useEvery(FAST_MS);
  const executor = useQuery({
    queryKey: ['executors', id],
    queryFn: ({ signal }) => get<Executor>(executorPath(id), {}, signal),
    refetchInterval: ({ state }) => !isRefused(state.error) && refetchInterval,
  });
  if (executor.isPending) return <Loading />;
  if (!executor.data) return <LoadFailure error={executor.error} onRetry={() => void executor.refetch()} />;
  return <Known executor={executor.data} />;
}

function Known({ executor }: { executor: Executor }) {
  const { t } = useTranslation();
  const name = executor.executor_id;
  return (
    <>
      <PageHeader
        documentTitle={name}
        title={
          <>
            <span>{name}</span>
            <States executor={executor} />
          </>
        }
        under={
          <span className="inline-flex flex-wrap items-center gap-2">
            <span className="mono">{executor.host}</span>
            <Labels labels={executor.labels} />
          </span>
        }
        actions={<ExecutorActions executor={executor} />}
      />
      <div className="grid gap-4 xl:grid-cols-[minmax(0,1fr)_360px]">
        <div className="grid content-start gap-4">
          <Runs id={name} />
          <HostReport report={executor.report} />
        </div>
        <Card title={t('run.facts')} className="self-start">
          <Facts
            items={[
              [t('executors.slots'), <Slots key="s" running={executor.running} slots={executor.slots} />],
              [t('executors.load'), <Load key="l" load={executor.load} />],
              [t('behind.title'), <Behind key="b" tasks={executor.tasks_behind} />],
              [t('executors.heartbeat'), <Time key="h" at={executor.last_heartbeat_time} />],
              [t('executors.registered'), <Time key="r" at={executor.register_time} />],
              [
                t('executors.address'),
                <span key="a" className="mono">
                  {executor.host}:{executor.port}
                </span>,
              ],
              ...(executor.breaker
                ? [
                    [
                      t('executors.breaker'),
                      t(`executors.breaker_${executor.breaker.state}`, { seconds: executor.breaker.pause_s }),
                    ] as const,
                  ]
                : []),
              [t('executors.features'), <Features key="f" names={executor.features} />],
              [
                t('executors.handlers'),
                <Features key="h" names={executor.handlers.map((one) => `${one.name} (${one.slots})`)} />,
              ],
              [t('executors.version'), executor.version],
              [t('executors.settings'), executor.config_version === 0 ? '–' : 'v' + executor.config_version],
            ]}
          />
        </Card>
      </div>
    </>
  );
}

function Runs({ id }: { id: string }) {
  const { t } = useTranslation();
  const runs = useRuns({ executor_id: id });
  const items = itemsOf(runs.data);
  return (
    <Card
      title={t('nav.runs')}
      flush
      actions={
        <Link to="/runs" search={{ executor_id: id }} className="link">
          {t('executors.filter')}
        </Link>
      }
    >
      <ListRows query={runs} empty={<EmptyYet title={t('runs.none')} hint={t('executors.no_runs')} />}>
        {items.length > 0 && <RunTable runs={items} withJob brief />}
      </ListRows>
    </Card>
  );
}

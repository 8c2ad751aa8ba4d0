// Page of the scheduler's own state: problems, pause, leader, members, segments, lateness, store, settings.
import './texts.en';
import { getRouteApi } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useStatus } from '../../api/queries';
import type { SystemStatus } from '../../api/types';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { early } from '../../lib/preload';
import { count, span } from '../../lib/format';
import { useKnown } from '../../lib/layout_hold';
import { usePreferences } from '../../lib/preferences';
import { Time } from '../../ui/time';
import { Card, Facts, LoadFailure, Loading, PageHeader } from '../../ui/ui';
import { DependenciesCard } from './dependencies_card';
import { HistoryCard } from './history_card';
import { MembersCard } from './members_card';
import { PauseCard } from './pause_card';
import { RefreshChoice } from './refresh_choice';
import { SettingsCard } from './settings_card';

const Attention = early(() => import('./attention'));
const route = getRouteApi('/system');

export function SystemPage() {
  const { t } = useTranslation();
  const { refresh, range } = route.useSearch();
  const navigate = route.useNavigate();
  const status = useStatus();
  const { isKnown, late, tell } = useKnown<'attention'>();
  return (
    <>
      <PageHeader
        title={t('nav.system')}
        documentTitle={t('nav.system')}
        actions={
          <RefreshChoice
            chosen={refresh}
            onChange={(next) =>
              void navigate({
                search: (before) => ({ ...before, refresh: next }),
                replace: true,
                resetScroll: false,
              })
            }
          />
        }
        under={status.data && t('system.version', { version: status.data.version })}
      />
      {status.isPending ? (
        <Loading />
      ) : !status.data ? (
        <LoadFailure error={status.error} onRetry={() => void status.refetch()} />
      ) : (
        <div className="grid gap-4 lg:grid-cols-2">
          <div className="min-w-0 lg:col-span-2">
            <Suspense fallback={<Loading />}>
              <Attention status={status.data} late={late} onKnown={() => tell('attention')} />
            </Suspense>
          </div>
          <div className={isKnown('attention') ? 'contents' : 'hidden'}>
            <PauseCard status={status.data} />
            <MembersCard status={status.data} />
            <Health status={status.data} />
            <div className="min-w-0 lg:col-span-2">
              <HistoryCard
                status={status.data}
                readAt={status.dataUpdatedAt}
                range={range}
                onRange={(next) =>
                  void navigate({
                    search: (before) => ({ ...before, range: next }),
                    replace: true,
                    resetScroll: false,
                  })
                }
              />
            </div>
            <Store status={status.data} />
            <Segments status={status.data} />
            <DependenciesCard />
            <SettingsCard />
          </div>
        </div>
      )}
    </>
  );
}

function Health({ status }: { status: SystemStatus }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const ms = (value: number | null) => (value === null ? '–' : span(value, language));
  const amount = (value: number | null) => (value === null ? '–' : count(value, language));
  const records = (value: number | null) =>
    value === null ? '–' : t('system.lag_records', { n: count(value, language) });
  return (
    <Card title={t('system.health')}>
      <Facts
        items={[
          [t('system.late_p50'), ms(status.late_ms.p50)],
          [t('system.late_p99'), ms(status.late_ms.p99)],
          [t('system.overdue'), ms(status.oldest_overdue_ms)],
          [t('system.pending'), amount(status.runs_pending)],
          [t('system.running'), amount(status.runs_running)],
          [t('system.lag_tasks'), records(status.lag.tasks)],
          [t('system.lag_results'), records(status.lag.results)],
          [t('system.lag_logs'), records(status.lag.logs)],
          [
            t('nav.executors'),
            Object.entries(status.executors)
              .filter(([, n]) => n > 0)
              .map(([state, n]) => `${t(`state.${state}`)} ${n}`)
              .join(' · ') || '0',
          ],
        ]}
      />
    </Card>
  );
}

function Store({ status }: { status: SystemStatus }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const { store } = status;
  return (
    <Card title={t('system.store')}>
      <Facts
        items={[
          [
            t('system.store_reachable'),
            status.store_reachable ? (
              t('yes')
            ) : (
              <span key="n" className="text-bad">
                {t('no')}, <Time at={status.unknown_since} />
              </span>
            ),
          ],
          [
            t('system.store_state'),
            <span key="s" className={store.state === 'trusted' ? '' : 'text-warn'}>
              {textOr('store.', store.state)}
            </span>,
          ],
          ...(store.detail
            ? [
                [
                  t('run.reason'),
                  <span key="d" lang="en">
                    {store.detail}
                  </span>,
                ] as const,
              ]
            : []),
          [t('system.store_since'), <Time key="t" at={store.since} />],
          [
            t('system.store_server'),
            <span key="s" lang="en">
              {store.server ?? '–'}
            </span>,
          ],
          [
            t('system.store_id'),
            <span key="i" className="mono break-all">
              {store.seen?.store_id ?? '–'}
            </span>,
          ],
          [
            t('system.server_id'),
            <span key="v" className="mono break-all">
              {store.seen?.server_id ?? '–'}
            </span>,
          ],
        ]}
      />
    </Card>
  );
}

function Segments({ status }: { status: SystemStatus }) {
  const { t } = useTranslation();
  const owners = new Map<string, number>();
  for (const one of status.segments ?? [])
    owners.set(one.owner ?? '', (owners.get(one.owner ?? '') ?? 0) + 1);
  const free = owners.get('') ?? 0;
  return (
    <Card title={t('system.segments')}>
      {status.segments === null ? (
        <p className="text-muted">{t('system.segments_unknown')}</p>
      ) : (
        <>
          <Facts items={[...owners].filter(([owner]) => owner !== '').map(([owner, n]) => [owner, n])} />
          <p className={'mt-3 ' + (free > 0 ? 'text-warn' : 'text-muted')}>
            {free > 0
              ? t('system.segments_free', { n: free, count: free })
              : t('system.segments_owned', { n: status.segments.length })}
          </p>
        </>
      )}
    </Card>
  );
}

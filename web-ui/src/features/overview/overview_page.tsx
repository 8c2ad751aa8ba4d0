// Overview: the health of the installation, current failures, next fires. Every number links
// to its details.
import './texts.en';
import { Link } from '@tanstack/react-router';
import { CircleCheck } from 'lucide-react';
import { Suspense, lazy } from 'react';
import { itemsOf, useJobs, useRuns, useStatus } from '../../api/queries';
import { useTranslation } from '../../i18n/use_translation';
import { early } from '../../lib/preload';
import { useKnown } from '../../lib/layout_hold';
import { Card, LoadFailure, Loading, PageHeader } from '../../ui/ui';
import { sampleOf } from './sample';
import { Tiles } from './tiles';
import { BAD_STATES } from '../../api/types';

const Attention = early(() => import('../system/attention'));
const FailureMap = early(() => import('./failure_map'));
const FirstSteps = lazy(() => import('./first_steps'));
const NextFires = early(() => import('./next_fires'));
const RunTable = early(async () => ({ default: (await import('../lists/runs/run_table')).RunTable }));

const BAD = [...BAD_STATES];
const SHOWN = 6;

export function OverviewPage() {
  const { t } = useTranslation();
  const status = useStatus();
  // This query only finds out whether there are jobs other than the sample.
  const jobs = useJobs({ page_size: 2 });
  const failures = useRuns({ state: BAD, page_size: SHOWN });
  const failed = itemsOf(failures.data).slice(0, SHOWN);
  const { isKnown, late, tell } = useKnown<'attention' | 'next'>();
  const above = isKnown('attention') || (!status.isPending && !status.data);
  const sample = jobs.isSuccess ? sampleOf(itemsOf(jobs.data)) : undefined;
  return (
    <>
      <PageHeader title={t('nav.overview')} documentTitle={t('nav.overview')} />
      {status.isPending ? (
        <Loading />
      ) : !status.data ? (
        <LoadFailure error={status.error} onRetry={() => void status.refetch()} />
      ) : (
        <Tiles status={status.data} />
      )}
      {sample !== undefined && (
        <Suspense>
          <FirstSteps sample={sample} />
        </Suspense>
      )}
      <div className="grid gap-4 xl:grid-cols-[minmax(0,1fr)_400px]">
        <div className="grid min-w-0 content-start gap-4">
          {status.data && (
            <Suspense fallback={<Loading />}>
              <Attention status={status.data} late={late} onKnown={() => tell('attention')} />
            </Suspense>
          )}
          <div className={above ? 'contents' : 'hidden'}>
            <Card
              title={t('overview.failures')}
              flush
              actions={
                <Link to="/runs" search={{ state: BAD }} className="link">
                  {t('list.all')}
                </Link>
              }
            >
              {failures.isPending ? (
                <Loading />
              ) : failures.isError && failed.length === 0 ? (
                <LoadFailure error={failures.error} onRetry={() => void failures.refetch()} />
              ) : failed.length > 0 ? (
                <Suspense fallback={<Loading />}>
                  <RunTable runs={failed} withJob brief />
                </Suspense>
              ) : (
                <p className="flex items-center justify-center gap-2 p-8 text-muted">
                  <CircleCheck aria-hidden size={17} className="text-ok" />
                  {t('overview.no_failures')}
                </p>
              )}
            </Card>
          </div>
        </div>
        <Suspense>
          <NextFires onKnown={() => tell('next')} />
        </Suspense>
      </div>
      {failed.length > 0 && (
        <div className={above && isKnown('next') ? 'mt-4' : 'hidden'}>
          <Suspense>
            <FailureMap />
          </Suspense>
        </div>
      )}
    </>
  );
}

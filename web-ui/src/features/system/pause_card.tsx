// Card that shows whether the cluster is paused, with buttons that pause and resume it.
import './texts.en';
import { getRouteApi } from '@tanstack/react-router';
import { Pause, Play } from 'lucide-react';
import { Suspense, lazy } from 'react';
import type { SystemStatus } from '../../api/types';
import { useMay } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { Time } from '../../ui/time';
import { Card, Facts } from '../../ui/ui';
import { pauseMismatch } from './member_values';
import { useResumeCluster } from './pause_cluster';

const PauseClusterDialog = lazy(() => import('./pause_dialog'));
const route = getRouteApi('/system');

export function PauseCard({ status }: { status: SystemStatus }) {
  const { t } = useTranslation();
  const { ask } = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay('config:write');
  const resume = useResumeCluster();
  const paused = status.paused ?? null;
  const { behind, unknown } = pauseMismatch(status);
  const put = (next: 'pause' | undefined) =>
    void navigate({ search: (before) => ({ ...before, ask: next }), replace: true, resetScroll: false });
  const button = { type: 'button', className: 'button', title: may ? undefined : t('pause.denied') } as const;
  return (
    <Card
      title={t('pause.card')}
      className="lg:col-span-2"
      actions={
        paused ? (
          <button {...button} disabled={!may || resume.isPending} onClick={() => resume.mutate()}>
            <Play aria-hidden size={15} />
            {t('pause.resume')}
          </button>
        ) : (
          <button {...button} disabled={!may} onClick={() => put('pause')}>
            <Pause aria-hidden size={15} />
            {t('pause.ask')}
          </button>
        )
      }
    >
      {paused ? (
        <>
          <Facts
            items={[
              [t('pause.since'), <Time key="s" at={paused.since} past />],
              [t('pause.by'), paused.by],
              [
                t('pause.reason'),
                <span key="r" className="wrap-anywhere">
                  {paused.reason}
                </span>,
              ],
            ]}
          />
          <p className="mt-3 text-warn">{t('pause.stops')}</p>
        </>
      ) : (
        <p className="text-muted">{t('pause.off')}</p>
      )}
      {behind.length > 0 && (
        <p role="status" className="mt-3 text-bad">
          {t(paused ? 'pause.behind' : 'pause.behind_resume', { members: behind.join(', ') })}
        </p>
      )}
      {paused && unknown.length > 0 && (
        <p className="mt-3 text-muted">{t('pause.unknown', { members: unknown.join(', ') })}</p>
      )}
      {ask === 'pause' && may && !paused && (
        <Suspense>
          <PauseClusterDialog onClose={() => put(undefined)} />
        </Suspense>
      )}
    </Card>
  );
}

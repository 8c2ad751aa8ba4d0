// Banners that every page shows: server or store unavailable, scheduling stopped.
import { DatabaseZap, WifiOff } from 'lucide-react';
import { Suspense, lazy } from 'react';
import { useStatus } from '../../api/queries';
import { useLostSince } from '../../api/reachability';
import { useTranslation } from '../../i18n/use_translation';
import { Time } from '../../ui/time';
import { Banner } from './banner';

const PauseBanner = lazy(() => import('./pause_banner'));
const OverloadBanner = lazy(() => import('./overload_banner'));

export function Banners() {
  const { t } = useTranslation();
  const lostSince = useLostSince();
  const status = useStatus();
  const data = status.data;
  return (
    <div aria-live="polite">
      {lostSince !== null && (
        <Banner icon={<WifiOff aria-hidden size={17} />}>
          {t('banner.lost')} <Time at={new Date(lostSince).toISOString()} past />
        </Banner>
      )}
      {lostSince === null && data && !data.store_reachable && (
        <Banner icon={<DatabaseZap aria-hidden size={17} />}>
          {t('banner.store')} <Time at={data.unknown_since} past />
        </Banner>
      )}
      {lostSince === null && data?.store_reachable && data.store.state === 'held' && (
        <Banner icon={<DatabaseZap aria-hidden size={17} />}>
          {t('banner.held')} <span lang="en">{data.store.detail}</span>
        </Banner>
      )}
      {data?.paused && (
        <Suspense>
          <PauseBanner pause={data.paused} />
        </Suspense>
      )}
      {data?.overload && (
        <Suspense>
          <OverloadBanner overload={data.overload} />
        </Suspense>
      )}
    </div>
  );
}

// Banner shown while the whole cluster is paused. It says since when, by whom and why.
import '../texts.en';
import { Link } from '@tanstack/react-router';
import { CirclePause } from 'lucide-react';
import type { ClusterPause } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { Time } from '../../ui/time';
import { Banner } from './banner';

export default function PauseBanner({ pause }: { pause: ClusterPause }) {
  const { t } = useTranslation();
  return (
    <Banner icon={<CirclePause aria-hidden size={17} className="shrink-0" />}>
      <span className="wrap-anywhere" data-testid="paused">
        {t('pause.banner', { by: pause.by, reason: pause.reason })} <Time at={pause.since} past />
      </span>{' '}
      <Link to="/system" className="link inline-flex min-h-6 items-center underline">
        {t('nav.system')}
      </Link>
    </Banner>
  );
}

// Banner shown while the responding server sheds load. It says which runs are skipped, and since when.
import '../texts.en';
import { Link } from '@tanstack/react-router';
import { Gauge } from 'lucide-react';
import type { Overload } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { count } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { Time } from '../../ui/time';
import { Banner } from './banner';

export default function OverloadBanner({ overload }: { overload: Overload }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  return (
    <Banner icon={<Gauge aria-hidden size={17} className="shrink-0" />}>
      <span data-testid="overload">
        {t('overload.banner', { below: overload.below, shed: count(overload.shed, language) })}{' '}
        <Time at={overload.since} past />
      </span>{' '}
      <Link
        to="/runs"
        search={{ state: ['SKIPPED'] }}
        className="link inline-flex min-h-6 items-center underline"
      >
        {t('nav.runs')}
      </Link>
    </Banner>
  );
}

// The event that started a run, with a link to what else it started.
import '../../events/texts.en';
import { Link } from '@tanstack/react-router';
import type { Run } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { Card, Facts } from '../../../ui/ui';

const text = (value: string) => <span className="mono break-all">{value}</span>;

export default function EventCard({ event }: { event: NonNullable<Run['event']> }) {
  const { t } = useTranslation();
  return (
    <Card title={t('events.started_by')}>
      <Facts
        items={[
          [t('events.type'), text(event.type)],
          [t('events.source'), text(event.source)],
          [t('events.id'), text(event.id)],
          ...(event.subject ? [[t('events.subject'), text(event.subject)] as const] : []),
        ]}
      />
      <Link
        to="/events"
        search={{ source: event.source, id: event.id }}
        className="link mt-2 inline-flex min-h-6 items-center"
      >
        {t('events.effects')}
      </Link>
    </Card>
  );
}

// Row on a job's page: the events that are notified, the recipients, and a link to the deliveries.
import './texts.en';
import '../form/texts.en';
import { Link } from '@tanstack/react-router';
import type { Job } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { useNotificationText } from './notifications_text';

export function NotificationFact({ job }: { job: Job }) {
  const { t } = useTranslation();
  const { what, cluster, whom } = useNotificationText(job.notify);
  return (
    <>
      {what}
      {cluster && <span className="text-muted"> · {t('option.tell.cluster')}</span>}
      {whom && <span className="block text-muted wrap-anywhere">{t('tell.to', { whom })}</span>}
      <Link to="/admin/deliveries" search={{ job_id: job.job_id }} className="link flex min-h-7 items-center">
        {t('tell.deliveries')}
      </Link>
    </>
  );
}

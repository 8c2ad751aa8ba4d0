// Link to the jobs of the same namespace.
import { Link } from '@tanstack/react-router';
import type { Job } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';

export function NamespaceLink({ job }: { job: Job }) {
  const { t } = useTranslation();
  if (!job.namespace) return null;
  return (
    <Link
      to="/jobs"
      search={{ namespace: [job.namespace] }}
      className="link inline-flex min-h-6 items-center"
      title={t('jobs.namespace')}
    >
      {job.namespace}
    </Link>
  );
}

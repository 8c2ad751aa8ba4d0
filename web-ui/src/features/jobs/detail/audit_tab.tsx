// Tab with the audit records of the job.
import '../../audit/texts.en';
import './texts.en';
import { Link } from '@tanstack/react-router';
import type { Job } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { EmptyYet } from '../../../ui/ui';
import { AuditList } from '../../audit/audit_list';

export default function AuditTab({ job }: { job: Job }) {
  const { t } = useTranslation();
  return (
    <>
      <p className="mb-3 text-muted">
        {t('audit.under')} ·{' '}
        <Link to="/admin/audit" search={{ object_id: job.job_id }} className="link underline">
          {t('audit.all')}
        </Link>
      </p>
      <AuditList filter={{ object_id: job.job_id }} nothing={<EmptyYet title={t('audit.none')} />} />
    </>
  );
}

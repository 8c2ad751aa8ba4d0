// What was done, by whom, and why.
import '../../i18n/more';
import { getRouteApi } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useTranslation } from '../../i18n/use_translation';
import { EmptyMatch, EmptyYet, PageHeader } from '../../shared/ui';
import { AdminTabs } from './admin_tabs';
import { AuditList } from './audit_list';

const route = getRouteApi('/admin/audit');

export function AuditPage() {
  const { t } = useTranslation();
  const { object_id: objectId } = route.useSearch();
  const navigate = route.useNavigate();
  const clear = () => void navigate({ search: {} });
  return (
    <>
      <PageHeader title={t('nav.audit')} documentTitle={t('nav.audit')} under={t('audit.under')} />
      <AdminTabs />
      {objectId && (
        <div className="mb-3 flex items-center gap-2">
          <span className="mono rounded bg-accent-soft px-2 py-1 text-accent">{objectId}</span>
          <button type="button" className="button button-plain" onClick={clear}><X aria-hidden size={15} />{t('empty.clear')}</button>
        </div>
      )}
      <AuditList objectId={objectId} nothing={objectId ? <EmptyMatch onClear={clear} /> : <EmptyYet title={t('audit.none')} />} />
    </>
  );
}

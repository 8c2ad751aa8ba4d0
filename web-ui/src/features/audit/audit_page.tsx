// Page of the audit log: actions, the users who did them, and the reasons.
import './texts.en';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from '../../i18n/use_translation';
import { EmptyMatch, EmptyYet, PageHeader } from '../../ui/ui';
import { AdminTabs } from '../admin/admin_tabs';
import { AuditFilters } from './audit_filters';
import { AuditList } from './audit_list';

const route = getRouteApi('/admin/audit');

export function AuditPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filtered = Object.values(search).some((value) => value !== undefined && value.length > 0);
  const clear = () => void navigate({ search: {} });
  return (
    <>
      <PageHeader title={t('nav.audit')} documentTitle={t('nav.audit')} under={t('audit.under')} />
      <AdminTabs />
      <AuditFilters
        search={search}
        set={(change) => void navigate({ search: (before) => ({ ...before, ...change }) })}
        onClear={filtered ? clear : undefined}
      />
      <AuditList
        filter={search}
        nothing={filtered ? <EmptyMatch onClear={clear} /> : <EmptyYet title={t('audit.none')} />}
      />
    </>
  );
}

// What was done, by whom, and why.
import '../../i18n/more';
import { Link, getRouteApi } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { itemsOf, useAudit } from '../../api/queries';
import type { AuditEntry } from '../../api/types';
import { useTextOr } from '../../i18n/text_or';
import { Time } from '../../shared/time';
import { EmptyMatch, EmptyYet, LoadFailure, Loading, MoreButton, PageHeader, TableFrame } from '../../shared/ui';
import { AdminTabs } from './admin_tabs';

const route = getRouteApi('/admin/audit');

export function AuditPage() {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const audit = useAudit({ object_id: search.object_id });
  const items = itemsOf(audit.data);
  return (
    <>
      <PageHeader title={t('nav.audit')} documentTitle={t('nav.audit')} under={t('audit.under')} />
      <AdminTabs />
      {search.object_id && (
        <div className="mb-3 flex items-center gap-2">
          <span className="mono rounded bg-accent-soft px-2 py-1 text-accent">{search.object_id}</span>
          <button type="button" className="button button-plain" onClick={() => void navigate({ search: {} })}><X aria-hidden size={15} />{t('empty.clear')}</button>
        </div>
      )}
      <div className="card overflow-hidden">
        {audit.isPending ? <Loading />
          : audit.isError && items.length === 0 ? <LoadFailure error={audit.error} onRetry={() => void audit.refetch()} />
          : items.length === 0 ? (search.object_id ? <EmptyMatch onClear={() => void navigate({ search: {} })} /> : <EmptyYet title={t('audit.none')} />)
          : (
            <TableFrame label={t('nav.audit')}>
              <table className="table cards">
                <thead><tr>
                  <th scope="col">{t('audit.time')}</th><th scope="col">{t('audit.actor')}</th><th scope="col">{t('audit.action')}</th>
                  <th scope="col">{t('audit.object')}</th><th scope="col">{t('reason.label')}</th>
                </tr></thead>
                <tbody>
                  {items.map((entry) => (
                    <tr key={entry.id}>
                      <td><Time at={entry.time} /></td>
                      <td>{entry.actor}</td>
                      <td title={t('audit.trace', { id: entry.trace_id })}>{textOr('action.', entry.action)}</td>
                      <td><ObjectLink entry={entry} /></td>
                      <td className="text-muted" lang={/^(auth|user|token)\./.test(entry.action) ? 'en' : undefined}>{entry.reason}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </TableFrame>
          )}
        <MoreButton query={audit} />
      </div>
    </>
  );
}

function ObjectLink({ entry }: { entry: AuditEntry }) {
  if (entry.action.startsWith('job.')) return <Link to="/jobs/$id" params={{ id: entry.object_id }} className="link mono">{entry.object_id}</Link>;
  if (entry.action.startsWith('run.')) return <Link to="/runs/$id" params={{ id: entry.object_id }} className="link mono">{entry.object_id}</Link>;
  if (/^bulk\b/.test(entry.action)) return <Link to="/bulk/$id" params={{ id: entry.object_id }} className="link mono">{entry.object_id}</Link>;
  return <span className="mono">{entry.object_id}</span>;
}

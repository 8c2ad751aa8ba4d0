// List of audit records, newest first. If a job was changed, a record shows the changed fields.
import './texts.en';
import '../jobs/detail/texts.en';
import '../jobs/form/texts.en';
import { Link } from '@tanstack/react-router';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useId, useState, type ReactNode } from 'react';
import { itemsOf, useAudit } from '../../api/queries';
import type { AuditChange, AuditEntry } from '../../api/types';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { Time } from '../../ui/time';
import { ListCard } from '../../ui/list_card';
import { TableFrame } from '../../ui/ui';
import { valueText } from '../../lib/value_text';
import type { AuditSearch } from './audit_filters';

const CHANGES_MAX = 100; // changed fields per record; the server keeps no more
const COLUMNS = 6;

export function AuditList({ filter, nothing }: { filter: AuditSearch; nothing: ReactNode }) {
  const { t } = useTranslation();
  const audit = useAudit({ ...filter });
  const items = itemsOf(audit.data);
  return (
    <ListCard query={audit} empty={nothing}>
      {items.length > 0 && (
        <TableFrame label={t('nav.audit')}>
          <table className="table cards">
            <thead>
              <tr>
                <th scope="col">{t('audit.time')}</th>
                <th scope="col">{t('audit.actor')}</th>
                <th scope="col">{t('audit.action')}</th>
                <th scope="col">{t('audit.object')}</th>
                <th scope="col">{t('reason.label')}</th>
                <th scope="col">{t('versions.changes')}</th>
              </tr>
            </thead>
            <tbody>
              {items.map((entry) => (
                <Row key={entry.id} entry={entry} />
              ))}
            </tbody>
          </table>
        </TableFrame>
      )}
    </ListCard>
  );
}

function Row({ entry }: { entry: AuditEntry }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const [open, setOpen] = useState(false);
  const id = useId();
  const changes = entry.changes ?? [];
  const what = textOr('action.', entry.action);
  const Chevron = open ? ChevronDown : ChevronRight;
  return (
    <>
      <tr data-row={entry.id}>
        <td>
          <Time at={entry.time} />
        </td>
        <td>{entry.actor}</td>
        <td title={t('audit.trace', { id: entry.trace_id })}>{what}</td>
        <td>
          <ObjectLink entry={entry} />
        </td>
        <td className="text-muted" lang={/^(auth|user|token)\./.test(entry.action) ? 'en' : undefined}>
          {entry.reason}
        </td>
        <td>
          {changes.length > 0 && (
            <button
              type="button"
              className="button whitespace-nowrap"
              aria-expanded={open}
              aria-controls={open ? id : undefined}
              aria-label={t('audit.fields_of', { n: changes.length, what, name: entry.object_id })}
              onClick={() => setOpen(!open)}
            >
              <Chevron aria-hidden size={15} />
              {t('audit.fields', { n: changes.length })}
            </button>
          )}
        </td>
      </tr>
      {open && (
        <tr>
          <td id={id} colSpan={COLUMNS} className="bg-code">
            <Changes changes={changes} />
          </td>
        </tr>
      )}
    </>
  );
}

function Changes({ changes }: { changes: AuditChange[] }) {
  const { t } = useTranslation();
  return (
    <>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{t('conflict.field')}</th>
            <th scope="col">{t('audit.from')}</th>
            <th scope="col">{t('audit.to')}</th>
          </tr>
        </thead>
        <tbody>
          {changes.map((change) => (
            <tr key={change.path}>
              <th scope="row" className="mono align-top break-all">
                {change.path}
              </th>
              <td className="mono bg-bad-soft align-top break-all whitespace-pre-wrap">
                {valueText(change.from)}
              </td>
              <td className="mono bg-ok-soft align-top break-all whitespace-pre-wrap">
                {valueText(change.to)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {changes.length >= CHANGES_MAX && (
        <p className="p-2 text-muted">{t('audit.fields_max', { n: CHANGES_MAX })}</p>
      )}
    </>
  );
}

function ObjectLink({ entry }: { entry: AuditEntry }) {
  if (entry.action.startsWith('job.'))
    return (
      <Link to="/jobs/$id" params={{ id: entry.object_id }} className="link mono">
        {entry.object_id}
      </Link>
    );
  if (entry.action.startsWith('run.'))
    return (
      <Link to="/runs/$id" params={{ id: entry.object_id }} className="link mono">
        {entry.object_id}
      </Link>
    );
  if (/^bulk\b/.test(entry.action))
    return (
      <Link to="/bulk/$id" params={{ id: entry.object_id }} className="link mono">
        {entry.object_id}
      </Link>
    );
  return <span className="mono">{entry.object_id}</span>;
}

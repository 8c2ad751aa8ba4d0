// Filters of the audit log. All filters are in the URL.
import './texts.en';
import { X } from 'lucide-react';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { SearchField } from '../../ui/search_field';
import { TimeRange } from '../lists/filters/time_range';
import { AUDIT_ACTIONS } from './audit_actions';

export interface AuditSearch {
  object_id?: string;
  actor?: string;
  action?: string[];
  since?: string;
  until?: string;
}

export function AuditFilters(props: {
  search: AuditSearch;
  set: (change: Partial<AuditSearch>) => void;
  onClear: (() => void) | undefined;
}) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const { search, set } = props;
  const chosen = search.action ?? [];
  const value = chosen.join(' ');
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <SearchField
        label={t('audit.whole_actor')}
        value={search.actor ?? ''}
        onChange={(actor) => set({ actor: actor || undefined })}
      />
      <SearchField
        label={t('audit.whole_object')}
        value={search.object_id ?? ''}
        onChange={(id) => set({ object_id: id || undefined })}
      />
      <select
        className="input w-auto max-w-full"
        aria-label={t('audit.action')}
        value={value}
        onChange={(event) => set({ action: event.target.value ? event.target.value.split(' ') : undefined })}
      >
        <option value="">{t('audit.any_action')}</option>
        {value !== '' && !AUDIT_ACTIONS.includes(value) && (
          <option value={value}>{chosen.map((one) => textOr('action.', one)).join(', ')}</option>
        )}
        {AUDIT_ACTIONS.map((one) => (
          <option key={one} value={one}>
            {textOr('action.', one)}
          </option>
        ))}
      </select>
      <TimeRange since={search.since} until={search.until} onChange={set} />
      {props.onClear && (
        <button type="button" className="button button-plain" onClick={props.onClear}>
          <X aria-hidden size={15} />
          {t('empty.clear')}
        </button>
      )}
    </div>
  );
}

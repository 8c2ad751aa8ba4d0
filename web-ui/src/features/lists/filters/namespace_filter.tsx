// Filter by namespace. Users choose one namespace here. A URL may name several.
import '../../jobs/list/texts.en';
import { useNamespaces } from '../../../api/queries';
import { useTranslation } from '../../../i18n/use_translation';

export function NamespaceFilter({
  chosen = [],
  onChange,
}: {
  chosen?: string[];
  onChange: (namespace: string[] | undefined) => void;
}) {
  const { t } = useTranslation();
  const known = useNamespaces();
  // If all jobs are in one namespace, there is nothing to choose.
  if (known.length < 2 && chosen.length === 0) return null;
  const value = chosen.join(' ');
  return (
    <select
      className="input w-auto max-w-full"
      aria-label={t('jobs.namespace')}
      value={value}
      onChange={(event) => onChange(event.target.value ? event.target.value.split(' ') : undefined)}
    >
      <option value="">{t('jobs.any_namespace')}</option>
      {value !== '' && !known.includes(value) && <option value={value}>{chosen.join(', ')}</option>}
      {known.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  );
}

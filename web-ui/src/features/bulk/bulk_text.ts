// Describes a bulk action and its progress in words.
import './texts.en';
import type { BulkAction } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { count } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';

export const leftOf = ({ total, done, failed, skipped }: BulkAction) =>
  Math.max(0, total - done - failed - skipped);

// Returns "Pause 1,234 jobs". If this console does not know the action, returns the name of the action.
export function useBulkTitle(): (bulk: Pick<BulkAction, 'action' | 'kind' | 'total'>) => string {
  const { t, i18n } = useTranslation();
  const { language } = usePreferences();
  return ({ action, kind, total }) => {
    const key = `bulk_title.${kind}.${action}`;
    const n = count(total, language);
    return i18n.exists(key) ? t(key, { n, count: total }) : `${action} (${n})`;
  };
}

export function useProgressText(): (bulk: BulkAction) => string {
  const { t } = useTranslation();
  const { language } = usePreferences();
  return (bulk) => {
    const { done, failed, skipped, total } = bulk;
    const numbers: Record<string, string> = {};
    for (const [name, n] of Object.entries({ done, failed, skipped, total, left: leftOf(bulk) }))
      numbers[name] = count(n, language);
    return t(bulk.state === 'RUNNING' ? 'bulk.so_far' : 'bulk.in_the_end', numbers);
  };
}

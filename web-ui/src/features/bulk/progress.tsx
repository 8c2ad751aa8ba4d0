// Progress of a bulk action: a bar and its numbers.
import './texts.en';
import type { BulkAction } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { leftOf, useProgressText } from './bulk_text';

export function Progress({ bulk }: { bulk: BulkAction }) {
  const { t } = useTranslation();
  const text = useProgressText()(bulk);
  return (
    <div className="grid min-w-40 gap-1">
      <progress
        className="progress"
        aria-label={t('bulk.progress')}
        max={Math.max(1, bulk.total)}
        value={bulk.total - leftOf(bulk)}
      />
      <p className="text-muted tabular-nums">{text}</p>
    </div>
  );
}

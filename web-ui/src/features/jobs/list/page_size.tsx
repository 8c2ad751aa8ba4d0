// Field that chooses the number of rows per page.
import './texts.en';
import { PAGE_SIZES } from '../../../lib/search_params';
import { useTranslation } from '../../../i18n/use_translation';

type Size = (typeof PAGE_SIZES)[number];
const USUAL = '50'; // the default; the URL does not contain it

export function PageSize({ value, onChange }: { value?: Size; onChange: (size: Size | undefined) => void }) {
  const { t } = useTranslation();
  const sizes = [...PAGE_SIZES, USUAL].toSorted((a, b) => +a - +b);
  return (
    <select
      className="input w-auto"
      aria-label={t('jobs.page_size')}
      value={value ?? USUAL}
      onChange={(event) => onChange(event.target.value === USUAL ? undefined : (event.target.value as Size))}
    >
      {sizes.map((n) => (
        <option key={n} value={n}>
          {t('jobs.page_of', { n })}
        </option>
      ))}
    </select>
  );
}

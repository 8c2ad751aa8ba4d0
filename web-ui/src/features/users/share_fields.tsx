// Fields for jobs of others that a user may treat as their own: a row per share, with
// namespace and labels.
import './texts.en';
import { Plus, X } from 'lucide-react';
import { useRef } from 'react';
import { useNamespaces } from '../../api/queries';
import type { Share } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { Field } from '../../ui/field';
import { SHARES_MOST } from './share_values';

export interface ShareFieldsProps {
  rows: readonly Share[];
  errorOf: (pointer: string) => string | undefined;
  onChange: (rows: Share[]) => void;
}

export function ShareFields({ rows, errorOf, onChange }: ShareFieldsProps) {
  const { t } = useTranslation();
  const namespaces = useNamespaces();
  const add = useRef<HTMLButtonElement>(null);
  const put = (at: number, change: Partial<Share>) =>
    onChange(rows.map((row, i) => (i === at ? { ...row, ...change } : row)));
  const remove = (at: number) => {
    onChange(rows.filter((_, i) => i !== at));
    add.current!.focus();
  };
  const whole = errorOf('/shares');
  return (
    <fieldset className="grid gap-2">
      <legend className="font-medium">{t('shares.title')}</legend>
      <p className="text-xs text-muted">{t('shares.hint')}</p>
      {rows.map((row, i) => (
        // oxlint-disable-next-line react/no-array-index-key -- all other values of a row may change
        <div
          key={i}
          role="group"
          aria-label={t('shares.row', { n: i + 1 })}
          className="grid grid-cols-[1fr_auto] items-start gap-2 border-t pt-2 sm:grid-cols-[2fr_3fr_auto]"
        >
          <Field
            label={t('jobs.namespace')}
            error={errorOf(`/shares/${i}/namespace`) ?? errorOf(`/shares/${i}`)}
          >
            <input
              className="input mono"
              list="share-namespaces"
              autoComplete="off"
              spellCheck={false}
              value={row.namespace}
              onChange={(event) => put(i, { namespace: event.target.value })}
            />
          </Field>
          <Field
            label={t('shares.selector')}
            error={errorOf(`/shares/${i}/selector`)}
            className="max-sm:order-last max-sm:col-span-2"
          >
            <input
              className="input mono"
              autoComplete="off"
              spellCheck={false}
              placeholder="team = etl"
              value={row.selector ?? ''}
              onChange={(event) => put(i, { selector: event.target.value })}
            />
          </Field>
          <button
            type="button"
            className="button button-plain button-icon mt-6"
            aria-label={t('shares.remove', { n: i + 1 })}
            title={t('shares.remove', { n: i + 1 })}
            onClick={() => remove(i)}
          >
            <X aria-hidden size={15} />
          </button>
        </div>
      ))}
      <datalist id="share-namespaces">
        {namespaces.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </datalist>
      {whole && (
        <p role="alert" className="text-xs text-bad">
          {whole}
        </p>
      )}
      <div>
        <button
          ref={add}
          type="button"
          className="button"
          disabled={rows.length >= SHARES_MOST}
          onClick={() => onChange([...rows, { namespace: '' }])}
        >
          <Plus aria-hidden size={15} />
          {t('shares.add')}
        </button>
      </div>
    </fieldset>
  );
}

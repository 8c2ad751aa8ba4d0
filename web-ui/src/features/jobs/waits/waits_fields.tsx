// Fields of the job form for the jobs whose runs a run waits for, a row each, and how long it waits. Below them, the
// runs for which a run would wait now.
import '../form/texts.en';
import './texts.en';
import { Plus, Trash2 } from 'lucide-react';
import { useFieldArray, useFormContext, useWatch } from 'react-hook-form';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { Field } from '../../../ui/field';
import { UpstreamJob } from '../dependencies/upstream_fields';
import { Text, useError } from '../form/form_fields';
import type { FormValues } from '../form/form_schema';
import { PreviewOfWaits, usePreviewOfForm } from './waits_preview';
import { EMPTY_WAIT, WAITS_MAX, WAIT_ON, WAIT_WHICH, WAIT_WINDOWS, type WaitRow } from './waits_values';

export default function WaitsFields() {
  const { t } = useTranslation();
  const shown = usePreviewOfForm();
  const { fields, append, remove } = useFieldArray<FormValues, 'waits'>({ name: 'waits' });
  return (
    <div className="grid gap-3 sm:col-span-2">
      <p className="text-xs text-muted">{t('waits.hint')}</p>
      <ol className="grid gap-3">
        {fields.map((field, at) => (
          <li
            key={field.id}
            className="grid gap-x-4 gap-y-2 rounded-md border p-3 sm:grid-cols-3"
            data-testid="wait"
          >
            <Row at={at} onRemove={() => remove(at)} />
          </li>
        ))}
      </ol>
      <button
        type="button"
        className="button justify-self-start"
        disabled={fields.length >= WAITS_MAX}
        onClick={() => append(EMPTY_WAIT, { focusName: `waits.${fields.length}.job` })}
      >
        <Plus aria-hidden size={15} />
        {t('waits.add')}
      </button>
      {fields.length > 0 && (
        <>
          <div className="grid gap-x-4 gap-y-2 sm:grid-cols-3">
            <Text
              name="wait_limit"
              label={t('waits.limit_field')}
              hint={t('waits.limit_hint')}
              placeholder="6h"
            />
          </div>
          <PreviewOfWaits {...shown} />
        </>
      )}
    </div>
  );
}

function Row({ at, onRemove }: { at: number; onRemove: () => void }) {
  const { t } = useTranslation();
  const window = useWatch<FormValues, `waits.${number}.window`>({ name: `waits.${at}.window` });
  const n = at + 1;
  const text = (field: keyof WaitRow, label: string, hint: string) => (
    <Text name={`waits.${at}.${field}`} label={t(label, { n })} hint={t(hint)} />
  );
  return (
    <>
      <UpstreamJob name={`waits.${at}.job`} label={t('waits.job_n', { n })} />
      <UpstreamJob name={`waits.${at}.in`} label={t('waits.in_n', { n })} hint={t('waits.in_hint')} />
      <button
        type="button"
        className="button button-icon button-danger justify-self-end sm:mt-6 sm:self-start"
        aria-label={t('waits.remove_n', { n })}
        title={t('waits.remove_n', { n })}
        onClick={onRemove}
      >
        <Trash2 aria-hidden size={15} />
      </button>
      <Choice at={at} field="window" label={t('waits.window_n', { n })} values={WAIT_WINDOWS} />
      {window === 'before' && (
        <Text
          name={`waits.${at}.days`}
          label={t('waits.days_n', { n })}
          numeric
          hint={t('waits.days_hint')}
        />
      )}
      {window === 'span' && text('back', 'waits.back_n', 'waits.duration_hint')}
      {window === 'span' && text('ahead', 'waits.ahead_n', 'waits.ahead_hint')}
      <Choice at={at} field="which" label={t('waits.which_n', { n })} values={WAIT_WHICH} />
      <Choice at={at} field="on" label={t('waits.on_n', { n })} values={WAIT_ON} />
    </>
  );
}

function Choice(props: {
  at: number;
  field: 'window' | 'which' | 'on';
  label: string;
  values: readonly string[];
}) {
  const textOr = useTextOr();
  const { register } = useFormContext<FormValues>();
  const name = `waits.${props.at}.${props.field}` as const;
  const error = useError();
  return (
    <Field label={props.label} error={error(name)}>
      <select className="input" {...register(name)}>
        {props.values.map((one) => (
          <option key={one} value={one}>
            {textOr(`option.wait_${props.field}.`, one)}
          </option>
        ))}
      </select>
    </Field>
  );
}

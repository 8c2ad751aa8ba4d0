// Rules for the parameters of a job, a row each.
import '../form/texts.en';
import { Plus, Trash2 } from 'lucide-react';
import { useFieldArray, useFormContext, useWatch } from 'react-hook-form';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { Field } from '../../../ui/field';
import { Text, useError } from '../form/form_fields';
import type { FormValues } from '../form/form_schema';
import { EMPTY_RULE, PARAMETER_TYPES, RULES_MAX } from './rule_values';

export function RuleRows() {
  const { t } = useTranslation();
  const { fields, append, remove } = useFieldArray<FormValues, 'rules'>({ name: 'rules' });
  return (
    <fieldset className="grid gap-2 sm:col-span-2">
      <legend className="font-medium">{t('form.rules')}</legend>
      <p className="text-xs text-muted">{t('form.rules_hint')}</p>
      <ol className="grid gap-3">
        {fields.map((field, at) => (
          <li
            key={field.id}
            className="grid gap-x-4 gap-y-2 rounded-md border p-3 sm:grid-cols-3"
            data-testid="rule"
          >
            <Row at={at} onRemove={() => remove(at)} />
          </li>
        ))}
      </ol>
      <button
        type="button"
        className="button justify-self-start"
        disabled={fields.length >= RULES_MAX}
        onClick={() => append(EMPTY_RULE, { focusName: `rules.${fields.length}.name` })}
      >
        <Plus aria-hidden size={15} />
        {t('form.add_rule')}
      </button>
    </fieldset>
  );
}

function Row({ at, onRemove }: { at: number; onRemove: () => void }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const { register } = useFormContext<FormValues>();
  const error = useError();
  const n = at + 1;
  const [type, required] = useWatch<FormValues, [`rules.${number}.type`, `rules.${number}.required`]>({
    name: [`rules.${at}.type`, `rules.${at}.required`],
  });
  const isBoolean = type === 'boolean';
  return (
    <>
      <Text name={`rules.${at}.name`} label={t('form.rule_name', { n })} mono />
      <Field label={t('form.rule_type', { n })} error={error(`rules.${at}.type`)}>
        <select className="input" {...register(`rules.${at}.type`)}>
          {PARAMETER_TYPES.map((one) => (
            <option key={one} value={one}>
              {textOr('option.parameter_type.', one)}
            </option>
          ))}
        </select>
      </Field>
      <button
        type="button"
        className="button self-end justify-self-end"
        aria-label={t('form.remove_rule', { n })}
        title={t('form.remove_rule', { n })}
        onClick={onRemove}
      >
        <Trash2 aria-hidden size={15} />
      </button>
      {!required && isBoolean && (
        <Field label={t('form.rule_default', { n })} error={error(`rules.${at}.default`)}>
          <select className="input" {...register(`rules.${at}.default`)}>
            <option value="">{t('form.rule_no_default')}</option>
            <option value="true">{t('option.boolean.true')}</option>
            <option value="false">{t('option.boolean.false')}</option>
          </select>
        </Field>
      )}
      {!required && !isBoolean && (
        <Text
          name={`rules.${at}.default`}
          label={t('form.rule_default', { n })}
          placeholder={t('form.rule_no_default')}
        />
      )}
      {!isBoolean && (
        <Text
          name={`rules.${at}.choices`}
          label={t('form.rule_choices', { n })}
          hint={t('form.rule_choices_hint')}
          rows={2}
        />
      )}
      <Text name={`rules.${at}.description`} label={t('form.rule_description', { n })} />
      <label className="flex items-center gap-2 self-center sm:col-span-3">
        <input type="checkbox" className="size-4 accent-accent" {...register(`rules.${at}.required`)} />
        {t('form.rule_required', { n })}
      </label>
    </>
  );
}

// Fields of the job form: labelled, registered, with their errors.
import './texts.en';
import type { ReactNode } from 'react';
import { get, useFormContext, useWatch, type FieldError, type FieldPath } from 'react-hook-form';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { Field } from '../../../ui/field';
import type { FormValues } from './form_schema';

export const COLUMNS = 'grid gap-x-4 gap-y-3 sm:grid-cols-2';

// Returns the error text of a field. Checks of the form give a code with bounds, which is
// translated; the server gives a sentence.
export function useError() {
  const { t } = useTranslation();
  const {
    formState: { errors },
  } = useFormContext<FormValues>();
  return (name: FieldPath<FormValues>): string | undefined => {
    const error = get(errors, name) as FieldError | undefined;
    if (!error) return undefined;
    const message = error.message ?? '';
    if (error.type === 'server') return message;
    const [code, least, most] = message.split(':');
    return t(`invalid.${code}`, { least, most });
  };
}

export function Text(props: {
  name: FieldPath<FormValues>;
  error?: string;
  label: string;
  hint?: ReactNode;
  mono?: boolean;
  rows?: number;
  numeric?: boolean;
  className?: string;
  placeholder?: string;
  list?: string;
}) {
  const { register } = useFormContext<FormValues>();
  const error = useError();
  const common = {
    ...register(props.name),
    spellCheck: false,
    placeholder: props.placeholder,
    className: 'input ' + (props.mono ? 'mono' : ''),
    autoComplete: 'off',
  };
  return (
    <Field
      label={props.label}
      hint={props.hint}
      error={props.error ?? error(props.name)}
      className={props.className}
    >
      {props.rows ? (
        <textarea rows={props.rows} {...common} />
      ) : (
        <input {...common} list={props.list} inputMode={props.numeric ? 'numeric' : undefined} />
      )}
    </Field>
  );
}

export function Choose(props: {
  name: keyof FormValues;
  label: string;
  values: readonly string[];
  hint?: ReactNode;
}) {
  const textOr = useTextOr();
  const { register } = useFormContext<FormValues>();
  const error = useError();
  return (
    <Field label={props.label} error={error(props.name)} hint={props.hint}>
      <select className="input" {...register(props.name)}>
        {props.values.map((value) => (
          <option key={value} value={value}>
            {textOr(`option.${props.name}.`, value)}
          </option>
        ))}
      </select>
    </Field>
  );
}

// A choice of one of `names`, or of none. A value that is not among them stays a choice.
export function ChooseName(props: {
  name: FieldPath<FormValues>;
  label: string;
  names: readonly string[];
  error?: string;
  hint?: ReactNode;
}) {
  const { t } = useTranslation();
  const { register } = useFormContext<FormValues>();
  const value = useWatch({ name: props.name }) as string;
  const error = useError();
  const known = value === '' || props.names.includes(value);
  return (
    <Field label={props.label} error={props.error ?? error(props.name)} hint={props.hint}>
      <select className="input" {...register(props.name)} value={value}>
        <option value="">{t('form.no_choice')}</option>
        {(known ? props.names : [value, ...props.names]).map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </Field>
  );
}

// Fields for the parameters of a run that have a rule: a choice, a box, a number or a text.
import './texts.en';
import type { ParameterRule } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { Field } from '../../../ui/field';
import { textOfValue } from '../rules/rule_values';

interface Props {
  name: string;
  rule: ParameterRule;
  preset: unknown; // the default of the job
  text: string;
  error?: string;
  onChange: (text: string) => void;
}

export function RuledField({ name, rule, preset, text, error, onChange }: Props) {
  const { t } = useTranslation();
  const label = rule.required ? t('run_with.required_name', { name }) : name;
  const hint = rule.description || undefined;
  if (rule.type === 'boolean') {
    return (
      <Field label={label} error={error} hint={hint}>
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={text === 'true'}
          onChange={(event) => onChange(String(event.target.checked))}
        />
      </Field>
    );
  }
  if (rule.choices && rule.choices.length > 0) {
    const texts = rule.choices.map(textOfValue);
    return (
      <Field label={label} error={error} hint={hint}>
        <select className="input" value={text} onChange={(event) => onChange(event.target.value)}>
          {!texts.includes('') && (preset === undefined || text === '') && (
            <option value="">{t('run_with.choose')}</option>
          )}
          {text !== '' && !texts.includes(text) && <option value={text}>{text}</option>}
          {texts.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </Field>
    );
  }
  const isNumber = rule.type === 'integer' || rule.type === 'number';
  return (
    <Field label={label} error={error} hint={hint}>
      <input
        className="input"
        inputMode={rule.type === 'integer' ? 'numeric' : isNumber ? 'decimal' : undefined}
        autoComplete="off"
        spellCheck={false}
        placeholder={textOfValue(preset)}
        value={text}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}

// Fields of the job form for a script: its interpreter, its text and its arguments.
import '../form/texts.en';
import { useTranslation } from '../../../i18n/use_translation';
import { Choose, Text } from '../form/form_fields';
import { INTERPRETERS } from './script_values';

export function ScriptFields() {
  const { t } = useTranslation();
  return (
    <>
      <Choose name="script_interpreter" label={t('form.script_interpreter')} values={INTERPRETERS} />
      <Text
        name="script_args"
        label={t('form.script_args')}
        mono
        rows={2}
        hint={t('form.script_args_hint')}
      />
      <Text
        name="script_body"
        label={t('form.script_body')}
        mono
        rows={14}
        hint={t('form.script_body_hint')}
        className="sm:col-span-2"
      />
    </>
  );
}

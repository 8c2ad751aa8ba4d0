// Section of the form about notifications: which events, and to whom.
import '../detail/texts.en';
import './texts.en';
import { useController, useWatch } from 'react-hook-form';
import { JOB_NOTICE_KINDS } from '../../../api/types';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { Card } from '../../../ui/ui';
import { COLUMNS, Choose, Text, useError } from './form_fields';
import type { FormValues } from './form_schema';
import { TELLS, notifyFrom, wrongLate } from './notifications_values';
import { useNotificationText } from '../detail/notifications_text';

export function TellSection() {
  const { t } = useTranslation();
  const [tell, tell_on, late, mail_to] = useWatch<FormValues, ['tell', 'tell_on', 'late_after_s', 'mail_to']>(
    { name: ['tell', 'tell_on', 'late_after_s', 'mail_to'] },
  );
  const { what, whom } = useNotificationText(
    notifyFrom({ tell, tell_on, late_after_s: wrongLate(late) ? '' : late, mail_to }, {}),
  );
  return (
    <Card title={t('form.tell')}>
      <div className={COLUMNS}>
        <div className="grid content-start gap-3">
          <Choose name="tell" label={t('form.tell_what')} values={TELLS} />
          {tell === 'own' && <Kinds />}
          <p className="text-xs text-muted wrap-anywhere" data-testid="telling" aria-live="polite">
            {!whom ? what : t('tell.summary', { what, whom })}
          </p>
        </div>
        <Text name="late_after_s" label={t('form.late_after_s')} numeric hint={t('form.tell_hint')} />
        <Text
          name="mail_to"
          label={t('form.mail_to')}
          mono
          rows={3}
          hint={t('form.mail_to_hint')}
          className="sm:col-span-2"
        />
      </div>
    </Card>
  );
}

// The checkboxes of the events, including those that the job has and this console does not know.
function Kinds() {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const { field } = useController<FormValues, 'tell_on'>({ name: 'tell_on' });
  const error = useError()('tell_on');
  const all = [...new Set<string>([...JOB_NOTICE_KINDS, ...field.value])];
  const toggle = (kind: string) =>
    field.onChange(
      field.value.includes(kind) ? field.value.filter((one) => one !== kind) : [...field.value, kind],
    );
  return (
    <fieldset aria-invalid={error ? true : undefined}>
      <legend className="sr-only">{t('option.tell.own')}</legend>
      <div className="flex flex-wrap gap-x-4 gap-y-2">
        {all.map((kind, i) => (
          <label key={kind} className="flex min-h-7 items-center gap-2">
            <input
              ref={i === 0 ? field.ref : undefined}
              type="checkbox"
              className="size-4 accent-accent"
              checked={field.value.includes(kind)}
              onChange={() => toggle(kind)}
            />
            {textOr('notice.', kind)}
          </label>
        ))}
      </div>
      {error && (
        <p className="mt-1 text-xs text-bad" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}

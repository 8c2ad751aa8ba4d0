// Fields of the job form that make each run fan out into parts.
import '../form/texts.en';
import { useWatch } from 'react-hook-form';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { Choose, Text } from '../form/form_fields';
import type { FormValues } from '../form/form_schema';
import { FAN_OUTS, isTemplate } from './fan_out_values';

const EXAMPLE = '{{params.n}}';

export function FanOutFields() {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const chosen = useWatch<FormValues, 'fan_out'>({ name: 'fan_out' });
  const total = useWatch<FormValues, 'shards_total'>({ name: 'shards_total' });
  return (
    <>
      <Choose
        name="fan_out"
        label={t('form.fan_out')}
        values={FAN_OUTS}
        hint={textOr('form.fan_out_hint.', chosen)}
      />
      {chosen === 'fixed' && (
        <Text
          name="shards_total"
          label={t('form.shards_total')}
          hint={t('form.shards_total_hint', { example: EXAMPLE })}
        />
      )}
      {(chosen === 'alive' || (chosen === 'fixed' && isTemplate(total))) && (
        <Text name="shards_max" label={t('form.shards_max')} numeric hint={t('form.shards_max_hint')} />
      )}
      {chosen === 'broadcast' && (
        <Text
          name="broadcast_wait_s"
          label={t('form.broadcast_wait_s')}
          numeric
          hint={t('form.broadcast_wait_s_hint')}
        />
      )}
      {chosen === 'none' && <span />}
    </>
  );
}

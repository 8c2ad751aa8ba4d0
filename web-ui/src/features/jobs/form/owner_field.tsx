// Field of a job's owner, for users who may change it.
import './texts.en';
import { useFormContext, useWatch } from 'react-hook-form';
import { useTranslation } from '../../../i18n/use_translation';
import { Field } from '../../../ui/field';
import { useError } from './form_fields';
import type { FormValues } from './form_schema';
import { useOwnerText, useOwners } from '../../users/owners';

export function OwnerField() {
  const { t } = useTranslation();
  const { register } = useFormContext<FormValues>();
  const { known, users } = useOwners();
  const ownerOf = useOwnerText();
  const owner = useWatch<FormValues, 'user_id'>({ name: 'user_id' });
  const error = useError();
  if (!known) return null;
  return (
    <Field label={t('jobs.owner')} error={error('user_id')} hint={t('form.owner_hint')}>
      <select className="input" {...register('user_id')} value={owner}>
        {owner === '' && <option value="">{t('form.owner_me')}</option>}
        {owner !== '' && !users.some((one) => one.user_id === owner) && (
          <option value={owner}>{ownerOf(owner)}</option>
        )}
        {users.map((one) => (
          <option key={one.user_id} value={one.user_id}>
            {one.name}
          </option>
        ))}
      </select>
    </Field>
  );
}

// Fields of the job form for a container: its image, its command, and how it is isolated.
import '../form/texts.en';
import { useFormContext } from 'react-hook-form';
import { useTranslation } from '../../../i18n/use_translation';
import { Choose, Text } from '../form/form_fields';
import type { FormValues } from '../form/form_schema';
import { NETWORKS, PULLS } from './container_values';

export function ContainerFields() {
  const { t } = useTranslation();
  const { register } = useFormContext<FormValues>();
  return (
    <>
      <Text
        name="container_image"
        label={t('form.container_image')}
        mono
        hint={t('form.container_image_hint')}
      />
      <Choose name="container_pull" label={t('form.container_pull')} values={PULLS} />
      <Text
        name="container_command"
        label={t('form.container_command')}
        mono
        rows={2}
        hint={t('form.container_command_hint')}
      />
      <Text
        name="container_args"
        label={t('form.container_args')}
        mono
        rows={2}
        hint={t('form.container_args_hint')}
      />
      <Choose name="container_network" label={t('form.container_network')} values={NETWORKS} />
      <Text
        name="container_user"
        label={t('form.container_user')}
        mono
        hint={t('form.container_user_hint')}
      />
      <label className="flex items-center gap-2 self-center">
        <input type="checkbox" className="size-4 accent-accent" {...register('container_read_only')} />
        {t('form.container_read_only')}
      </label>
    </>
  );
}

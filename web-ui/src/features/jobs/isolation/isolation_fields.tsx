// Fields of the job form for the limits of its processes, their user, directory and encoding.
import '../form/texts.en';
import { useTranslation } from '../../../i18n/use_translation';
import { Choose, Text } from '../form/form_fields';
import { ENFORCE, LIMITS } from './isolation_values';

// `contained`: of a container, whose engine enforces every limit and knows other users.
export function IsolationFields({ contained }: { contained: boolean }) {
  const { t } = useTranslation();
  return (
    <>
      {LIMITS.map(([name]) => (
        <Text
          key={name}
          name={`limit_${name}`}
          label={t(`form.limit_${name}`)}
          numeric
          hint={name === 'memory_mb' ? t('form.limit_hint') : undefined}
        />
      ))}
      {!contained && (
        <>
          <Choose name="limit_enforce" label={t('form.limit_enforce')} values={ENFORCE} />
          <Text name="run_as" label={t('form.run_as')} mono hint={t('form.run_as_hint')} />
          <Text
            name="working_directory"
            label={t('form.working_directory')}
            mono
            hint={t('form.working_directory_hint')}
          />
        </>
      )}
      <Text
        name="output_encoding"
        label={t('form.output_encoding')}
        mono
        hint={t('form.output_encoding_hint')}
      />
    </>
  );
}

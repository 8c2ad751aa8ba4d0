// Fields of a trigger: the events that start the job, and the parameters that their values become. Below them, a
// test of the draft.
import '../form/texts.en';
import './texts.en';
import { useWatch, type FieldPath } from 'react-hook-form';
import { useTranslation } from '../../../i18n/use_translation';
import EventTest from './event_test';
import { sampleEvent } from './event_values';
import { Text } from '../form/form_fields';
import { NO_NAMESPACE, type FormValues } from '../form/form_schema';
import { isWhole, triggerOf } from './trigger_values';

const PARAMETERS_EXAMPLE = '{"amount": "{{event.data.amount}}"}';

export interface TriggerNames {
  type: FieldPath<FormValues>;
  source: FieldPath<FormValues>;
  filter: FieldPath<FormValues>;
  parameters: FieldPath<FormValues>;
}

// `n`: the number of the row; undefined if the trigger is the only schedule. `jobId`: the job that is edited, with
// whose rules for parameters the draft is tested.
export default function TriggerFields(props: {
  names: TriggerNames;
  n?: number;
  jobId?: string;
  errorOf: (field: FieldPath<FormValues>) => string | undefined;
}) {
  const { t } = useTranslation();
  const { names, n, errorOf } = props;
  const [type, source, filter, parameters] = useWatch<FormValues>({
    name: [names.type, names.source, names.filter, names.parameters],
  }) as unknown as [string, string, string, string];
  const namespace = useWatch<FormValues, 'namespace'>({ name: 'namespace' });
  const draft = { type, source, filter, parameters };
  const of = {
    namespace: namespace.trim() || NO_NAMESPACE,
    trigger: triggerOf(draft),
    ...(props.jobId === undefined ? {} : { job_id: props.jobId }),
  };
  const label = (key: string) => (n === undefined ? t(`trigger.${key}`) : t(`trigger.${key}_n`, { n }));
  return (
    <>
      <Text
        name={names.type}
        label={label('type')}
        error={errorOf(names.type)}
        hint={t('trigger.type_hint')}
        placeholder="order.*"
        mono
      />
      <Text
        name={names.source}
        label={label('source')}
        error={errorOf(names.source)}
        hint={t('trigger.source_hint')}
        mono
      />
      <Text
        name={names.filter}
        label={label('filter')}
        error={errorOf(names.filter)}
        hint={t('trigger.filter_hint')}
        placeholder="data.amount > 9 and data.region == 'eu'"
        mono
      />
      <Text
        name={names.parameters}
        label={label('parameters')}
        error={errorOf(names.parameters)}
        hint={t('trigger.parameters_hint')}
        placeholder={PARAMETERS_EXAMPLE}
        rows={3}
        mono
      />
      <details>
        <summary className="py-1 text-accent">{label('test')}</summary>
        <div className="mt-2">
          <EventTest of={isWhole(draft) ? of : null} sample={sampleEvent(type.trim(), source.trim())} />
        </div>
      </details>
    </>
  );
}

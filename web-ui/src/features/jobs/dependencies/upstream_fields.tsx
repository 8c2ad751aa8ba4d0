// Fields of a schedule that fires after another job: the job, by its ID, and the results after which it fires.
// The jobs found by the typed name or ID are suggested.
import '../form/texts.en';
import { useId } from 'react';
import { useFormContext, useWatch, type FieldPath } from 'react-hook-form';
import { useFoundJobs } from '../../../api/dependencies';
import { UPSTREAM } from '../../../api/types';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { useDelayed } from '../../../lib/use_delayed';
import { Field } from '../../../ui/field';
import { Text, useError } from '../form/form_fields';
import type { FormValues } from '../form/form_schema';

const DELAY_MS = 300;

interface UpstreamField {
  name: FieldPath<FormValues>;
  label: string;
  error?: string;
}

export function UpstreamJob({ name, label, error, hint }: UpstreamField & { hint?: string }) {
  const { t } = useTranslation();
  const { getValues } = useFormContext<FormValues>();
  const list = useId();
  const id = useWatch({ name }) as string;
  const jobs = useFoundJobs(useDelayed(id.trim(), DELAY_MS));
  const chosen = jobs.find((job) => job.job_id === id.trim());
  const own = getValues('job_id');
  return (
    <div>
      <Text
        name={name}
        label={label}
        error={error}
        list={list}
        mono
        hint={chosen ? t('form.upstream_is', { name: chosen.name }) : (hint ?? t('form.upstream_hint'))}
      />
      <datalist id={list}>
        {jobs
          .filter((job) => job.job_id !== own)
          .map((job) => (
            <option key={job.job_id} value={job.job_id}>
              {job.name}
            </option>
          ))}
      </datalist>
    </div>
  );
}

export function UpstreamResult({ name, label, error }: UpstreamField) {
  const textOr = useTextOr();
  const { register } = useFormContext<FormValues>();
  const known = useError();
  return (
    <Field label={label} error={error ?? known(name)}>
      <select className="input" {...register(name)}>
        {UPSTREAM.map((one) => (
          <option key={one} value={one}>
            {textOr('option.on.', one)}
          </option>
        ))}
      </select>
    </Field>
  );
}

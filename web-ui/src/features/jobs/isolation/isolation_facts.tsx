// The limits, the user, the directory and the encoding of a job on its page, as rows of a list of facts.
import '../form/texts.en';
import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import type { Job } from '../../../api/types';
import { LIMITS } from './isolation_values';

export function isolationFacts(job: Job, t: TFunction): (readonly [string, ReactNode])[] {
  const limits = job.limits ?? {};
  const set = LIMITS.filter(([name]) => limits[name]);
  return [
    ...set.map(([name]) => [t(`form.limit_${name}`), limits[name]] as const),
    ...(set.length > 0
      ? [[t('form.limit_enforce'), t(`option.limit_enforce.${limits.enforce ?? 'required'}`)] as const]
      : []),
    ...(['run_as', 'working_directory', 'output_encoding'] as const)
      .filter((name) => job[name])
      .map(
        (name) =>
          [
            t(`form.${name}`),
            <span key={name} className="mono">
              {job[name]}
            </span>,
          ] as const,
      ),
  ];
}

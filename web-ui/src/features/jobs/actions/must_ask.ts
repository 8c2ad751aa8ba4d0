// True if a run of the job needs values that only a person can give. Apart from run_with_values.ts, which is
// loaded with its dialog only.
import type { Job } from '../../../api/types';

export const mustAsk = (job: Job): boolean =>
  Object.values(job.parameter_rules ?? {}).some((rule) => rule.required === true);

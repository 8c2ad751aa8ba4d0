// The fan-out of a job on its page, as a row of a list of facts.
import '../form/texts.en';
import type { TFunction } from 'i18next';
import type { Job } from '../../../api/types';
import { PARTS_MAX } from './fan_out_values';

export function fanOutFacts(job: Job, t: TFunction): (readonly [string, string])[] {
  const label = t('form.fan_out');
  if (job.broadcast) return [[label, t('form.fan_out_broadcast', { seconds: job.broadcast.wait_s ?? 60 })]];
  if (!job.shards) return [];
  const { total, max } = job.shards;
  if (typeof total === 'number') return [[label, t('form.fan_out_fixed', { count: total })]];
  if (total !== 'alive') return [[label, t('form.fan_out_template', { total, max: max ?? PARTS_MAX })]];
  return [[label, max && max < PARTS_MAX ? t('form.fan_out_alive_max', { max }) : t('form.fan_out_alive')]];
}

// The values of the dialog for past fires, and the request that follows from them. Pure.
import type { Job, Schedule } from '../../api/types';
import { instantIn, localIn } from '../../lib/zones';

export interface BackfillValues {
  from: string; // local times in the zone of the dialog, such as "2026-03-01T00:00"
  to: string;
  schedule: string; // a schedule_id; '' = the only one
  descending: boolean;
  rerun: 'none' | 'failed' | 'all';
  concurrency: string;
}

export const RERUNS = ['none', 'failed', 'all'] as const;
const DAY_MS = 86_400_000;
const CONCURRENCY_MAX = 100;

// The schedules that have past fires.
export const repeatedOf = (job: Job): Schedule[] =>
  job.schedules.filter(({ kind }) => kind === 'cron' || kind === 'rate');

// The values with which the dialog begins: the last day up to a minute ago.
export function startOf(job: Job, zone: string, now: number): BackfillValues {
  const repeated = repeatedOf(job);
  return {
    from: localIn(zone, now - DAY_MS),
    to: localIn(zone, now - 60_000),
    schedule: repeated.length > 1 ? String(repeated[0]!.schedule_id ?? '') : '',
    descending: false,
    rerun: 'none',
    concurrency: '1',
  };
}

export type WrongField = 'from' | 'to' | 'concurrency';

// The fields that cannot be sent.
export function wrongIn(values: BackfillValues, zone: string): WrongField[] {
  const wrong: WrongField[] = [];
  const [from, to] = [instantIn(zone, values.from), instantIn(zone, values.to)];
  if (Number.isNaN(from)) wrong.push('from');
  if (Number.isNaN(to) || to <= from) wrong.push('to');
  const concurrency = Number(values.concurrency);
  if (!/^\d+$/.test(values.concurrency) || concurrency < 1 || concurrency > CONCURRENCY_MAX) {
    wrong.push('concurrency');
  }
  return wrong;
}

export function bodyOf(values: BackfillValues, zone: string): Record<string, unknown> {
  return {
    from: new Date(instantIn(zone, values.from)).toISOString(),
    to: new Date(instantIn(zone, values.to)).toISOString(),
    ...(values.schedule === '' ? {} : { schedule_id: Number(values.schedule) }),
    order: values.descending ? 'descending' : 'ascending',
    rerun: values.rerun,
    concurrency: Number(values.concurrency),
  };
}

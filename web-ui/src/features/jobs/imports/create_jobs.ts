// Creates the jobs of an import by requests of limited size. A job whose id is in use stays unchanged.
import { call } from '../../../api/client';
import { newKey } from '../../../api/keys';
import type { ScheduleWarning } from '../../../api/types';
import type { Definition } from '../form/definition';
import { BYTES_MAX, JOBS_MAX, type Applied, type AppliedItem } from '../transfer/import_values';

export interface Outcome {
  result: 'created' | 'exists' | 'failed';
  error: AppliedItem['error'];
  warnings: ScheduleWarning[];
}
// The state between two requests, so that a creation can stop and continue.
export interface Creation {
  batches: Definition[][];
  next: number; // the batch that follows
  key: string | null; // of the request, if it may have been sent without an answer
  outcomes: ReadonlyMap<string, Outcome>; // by job_id
}

const idOf = (job: Definition) => String(job.job_id);

// The order is kept, because a job stands behind those on which it depends.
export function beginCreation(jobs: readonly Definition[], namespace = ''): Creation {
  const batches: Definition[][] = [];
  let size = 0;
  for (const one of jobs) {
    const job = namespace ? { ...one, namespace } : one;
    const bytes = new Blob([JSON.stringify(job)]).size + 1;
    const last = batches.at(-1);
    if (last && last.length < JOBS_MAX && size + bytes <= BYTES_MAX) {
      last.push(job);
      size += bytes;
    } else {
      batches.push([job]);
      size = bytes;
    }
  }
  return { batches, next: 0, key: null, outcomes: new Map() };
}

export const isOver = ({ batches, next }: Creation) => next >= batches.length;
export const doneOf = ({ batches, next }: Creation) =>
  batches.slice(0, next).reduce((sum, batch) => sum + batch.length, 0);

export const keyed = (at: Creation): Creation => ({ ...at, key: at.key ?? newKey() });

// Sends the next batch. After a failure it can be called again: the key makes the server do it once.
export async function sendBatch(at: Creation): Promise<Creation> {
  const jobs = at.batches[at.next];
  if (!jobs || at.key === null) return at;
  const outcomes = new Map(at.outcomes);
  const { data } = await call<Applied>('POST', 'apply', {
    query: { only_new: 'true' },
    body: jobs,
    idempotencyKey: at.key,
  });
  for (const item of data.items) {
    const job = item.index === null ? undefined : jobs[item.index];
    if (!job) continue;
    const result = item.error ? 'failed' : item.result === 'created' ? 'created' : 'exists';
    outcomes.set(idOf(job), { result, error: item.error, warnings: item.warnings ?? [] });
  }
  return { ...at, outcomes, key: null, next: at.next + 1 };
}

// Creates the jobs of an import by requests of limited size. A job whose id is in use stays unchanged.
import { call } from '../../../api/client';
import { newKey } from '../../../api/keys';
import type { Definition } from '../form/definition';
import { BYTES_MAX, JOBS_MAX, type Applied, type AppliedItem } from '../transfer/import_values';

export interface Outcome {
  result: 'created' | 'exists' | 'failed';
  error: AppliedItem['error'];
}
interface Sent {
  jobs: Definition[];
  key: string;
}
// The state between two requests, so that a creation can stop and continue.
export interface Creation {
  batches: Definition[][];
  next: number; // the batch that follows
  sent: Sent | null; // what was sent of it without an answer
  outcomes: ReadonlyMap<string, Outcome>; // by job_id
}

const idOf = (job: Definition) => String(job.job_id);

// The order is kept, because a job stands behind those on which it depends.
export function beginCreation(jobs: readonly Definition[], most = JOBS_MAX): Creation {
  const batches: Definition[][] = [];
  let size = 0;
  for (const job of jobs) {
    const bytes = new Blob([JSON.stringify(job)]).size + 1;
    const last = batches.at(-1);
    if (last && last.length < most && size + bytes <= BYTES_MAX) {
      last.push(job);
      size += bytes;
    } else {
      batches.push([job]);
      size = bytes;
    }
  }
  return { batches, next: 0, sent: null, outcomes: new Map() };
}

export const isOver = ({ batches, next }: Creation) => next >= batches.length;
export const doneOf = ({ batches, next }: Creation) =>
  batches.slice(0, next).reduce((sum, batch) => sum + batch.length, 0);

const isThere = (item: AppliedItem) =>
  item.version !== null || item.result === 'updated' || item.result === 'unchanged';

// The jobs without their dependencies on each other, because a dry run stores none of them.
export function withoutDependencies(jobs: readonly Definition[], ids: ReadonlySet<unknown>): Definition[] {
  return jobs.map((job) =>
    Array.isArray(job.schedules)
      ? { ...job, schedules: (job.schedules as Definition[]).filter((one) => !ids.has(one.job)) }
      : job,
  );
}

// Finds out which jobs of the next batch exist. The others are to be sent, also those that are refused now:
// their answer has the reason.
export async function lookAtBatch(at: Creation): Promise<Creation> {
  if (at.sent || isOver(at)) return at;
  const batch = at.batches[at.next]!;
  const ids = new Set(at.batches.flat().map((job) => job.job_id));
  const body = withoutDependencies(batch, ids);
  const { data } = await call<Applied>('POST', 'apply', { query: { dry_run: 'true' }, body });
  const there = new Set(data.items.filter(isThere).map((item) => item.index));
  const outcomes = new Map(at.outcomes);
  for (const index of there)
    if (index !== null) outcomes.set(idOf(batch[index]!), { result: 'exists', error: null });
  const jobs = batch.filter((_, i) => !there.has(i));
  return { ...at, outcomes, sent: { jobs, key: newKey() } };
}

// Sends the batch. After a failure it can be called again: the key makes the server do it once.
export async function sendBatch(at: Creation): Promise<Creation> {
  if (!at.sent) return at;
  const { jobs, key } = at.sent;
  const outcomes = new Map(at.outcomes);
  if (jobs.length > 0) {
    const { data } = await call<Applied>('POST', 'apply', { body: jobs, idempotencyKey: key });
    for (const item of data.items) {
      const job = item.index === null ? undefined : jobs[item.index];
      if (!job) continue;
      const result = item.error ? 'failed' : item.result === 'created' ? 'created' : 'exists';
      outcomes.set(idOf(job), { result, error: item.error });
    }
  }
  return { ...at, outcomes, sent: null, next: at.next + 1 };
}

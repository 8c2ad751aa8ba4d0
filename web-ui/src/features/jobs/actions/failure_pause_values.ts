// Values of a pause by pause_after_failures: how many runs failed, which version is the pause, and which runs counted
// (docs/semantics.md). Pure.
import type { JobVersion, Run } from '../../../api/types';

export const FAILED_STATES = ['FAILED', 'TIMED_OUT'];
// The runs that the scheduler starts by itself.
export const COUNTED_KINDS = ['cron', 'rate', 'once', 'delay', 'after', 'event'];
// Faults of a host, which say nothing about the job.
const OF_HOST = new Set([
  'spawn',
  'host',
  'executor_lost',
  'warden_died',
  'lease_ended',
  'worker_died',
  'worker_stopped',
  'not_started',
]);

// The number of failures, which the job's reason names, because pause_after_failures may have changed since; null if the
// reason is another sentence.
export function countOf(reason: string | null): number | null {
  if (reason?.startsWith('a run has failed')) return 1;
  const found = /^(\d+) runs in a row have failed/.exec(reason ?? '');
  return found && Number(found[1]);
}

// True if the version is a pause by the scheduler itself.
export const isPause = ({ actor, changes }: JobVersion): boolean =>
  actor === 'system' && (changes ?? []).some((one) => one.field === 'enabled' && one.after === false);

// True if the failed run is one of those that led to the pause: only runs of the version that was paused count.
export const hasCounted = (run: Run, pause: JobVersion): boolean =>
  run.job_version === pause.version - 1 && !OF_HOST.has(run.reason ?? '') && COUNTED_KINDS.includes(run.kind);

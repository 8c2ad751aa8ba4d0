// Finds what a job waits for behind each of the jobs on which it depends. Pure.
import type { Dependency } from '../../../api/dependencies';
import type { UpstreamWait } from '../../../api/types';

// A job that several entries name, as the job or as the workflow, is listed once for each of them.
export function waitsBehind(
  waits: readonly UpstreamWait[],
  jobs: readonly Dependency[],
): (UpstreamWait | undefined)[] {
  const left = new Map<string, UpstreamWait[]>();
  for (const wait of waits) {
    for (const id of wait.in ? [wait.job, wait.in] : [wait.job])
      left.set(id, [...(left.get(id) ?? []), wait]);
  }
  return jobs.map((job) => (job.kind === 'waits' ? left.get(job.job_id)?.shift() : undefined));
}

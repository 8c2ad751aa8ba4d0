// Reads the last runs of many jobs, such as all jobs of a list. One request has the ids of up to
// IDS_MAX jobs.
import { useQuery } from '@tanstack/react-query';
import { get, type ApiError } from '../../../api/client';
import { CALM_MS, useEvery } from '../../../api/queries';
import { FINAL_STATES, type RecentRun } from '../../../api/types';

const IDS_MAX = 100; // ids per request; the server's limit

interface Answer {
  items: { job_id: string; runs: RecentRun[] }[];
}
export type LastRuns = ReadonlyMap<string, readonly RecentRun[]>;

// Returns the last run that has ended. Skipped runs are left out, because they say nothing about the health
// of the job.
export const lastEnded = (runs: readonly RecentRun[]): RecentRun | undefined =>
  runs.find((run) => FINAL_STATES.has(run.state) && run.state !== 'SKIPPED');

export async function readLastRuns(
  ids: readonly string[],
  n: number,
  signal?: AbortSignal,
): Promise<LastRuns> {
  const pieces = Array.from({ length: Math.ceil(ids.length / IDS_MAX) }, (_, i) =>
    ids.slice(i * IDS_MAX, (i + 1) * IDS_MAX),
  );
  const answers = await Promise.all(
    pieces.map((job_id) => get<Answer>('recent-runs', { job_id, n }, signal)),
  );
  return new Map(answers.flatMap(({ items }) => items.map((one) => [one.job_id, one.runs] as const)));
}

// Returns the last runs by job. Undefined while the runs are not known, or if the server is too old to return
// them. The key is below "runs", because every change of a run is announced.
export const useLastRuns = (ids: readonly string[], n: number): LastRuns | undefined =>
  useLastRunsRead(ids, n).data;

export function useLastRunsRead(ids: readonly string[], n: number) {
  const refetchInterval = useEvery(CALM_MS * 2);
  return useQuery({
    queryKey: ['runs', 'recent', n, ids],
    queryFn: ({ signal }) => readLastRuns(ids, n, signal),
    enabled: ids.length > 0,
    placeholderData: (before) => before,
    refetchInterval: (query) =>
      (query.state.error as ApiError | null)?.status === 404 ? false : refetchInterval,
    retry: false,
  });
}

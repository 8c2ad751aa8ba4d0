// The lists of what a run consists of: its shards, or the nodes of a workflow. They may be long and change every second,
// so they have a pace of their own: changes.ts does not read them anew.
import { useQuery } from '@tanstack/react-query';
import { get } from './client';
import { FAST_MS, isRefused, useEvery } from './queries';
import { FINAL_STATES, type Run } from './types';

// Reads a list once a second or, if it has more than `aSecond` items, in proportion less often: a viewer gets no more than
// that many items a second. After the end of the run nothing changes. Its end and its next attempt are shown at once,
// because the state and the attempt are parts of the key.
export function useRunParts<T extends { state: string }>(
  run: Run,
  name: 'nodes' | 'shards',
  itemsOf: (list: T) => readonly unknown[],
  aSecond: number,
) {
  const every = useEvery(FAST_MS / 2);
  return useQuery({
    queryKey: ['runs', run.run_id, name, run.attempt, run.state],
    queryFn: ({ signal }) => get<T>(`runs/${encodeURIComponent(run.run_id)}/${name}`, {}, signal),
    placeholderData: (before, query) => (query?.queryKey[1] === run.run_id ? before : undefined),
    refetchInterval: ({ state: { data, error } }) =>
      !isRefused(error) &&
      !(data && FINAL_STATES.has(data.state)) &&
      every &&
      every * Math.max(1, data ? itemsOf(data).length / aSecond : 1),
  });
}

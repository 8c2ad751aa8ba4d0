// The lists of what a run consists of: its shards, or the nodes of a workflow. They may be long and change every second,
// so they have a pace of their own: changes.ts does not read them anew.
import { useQuery } from '@tanstack/react-query';
import { get } from './client';
import { CALM_MS, FAST_MS, isRefused, useEvery } from './queries';
import { FINAL_STATES, type Run } from './types';

// Reads a list once a second or, if it has more than `aSecond` items, in proportion less often: a viewer gets no more than
// that many items a second. The end of the run and its next attempt are shown at once, because the state and the
// attempt are parts of the key. After the end only LOST items change, by a late report of their executor; while there
// are some, the list is read less often.
export function useRunParts<T extends { state: string }>(
  run: Run,
  name: 'nodes' | 'shards',
  itemsOf: (list: T) => readonly { state: string }[],
  aSecond: number,
  reads = true, // false: shows what another part of the page reads
) {
  const whileOpen = useEvery(FAST_MS / 2);
  const whileLost = useEvery(CALM_MS);
  const paceOf = (list: T | undefined): number | false => {
    if (!list) return whileOpen;
    const items = itemsOf(list);
    const ended = FINAL_STATES.has(list.state);
    if (ended && !items.some(({ state }) => state === 'LOST')) return false;
    const every = ended ? whileLost : whileOpen;
    return every && every * Math.max(1, items.length / aSecond);
  };
  return useQuery({
    queryKey: ['runs', run.run_id, name, run.attempt, run.state],
    queryFn: ({ signal }) => get<T>(`runs/${encodeURIComponent(run.run_id)}/${name}`, {}, signal),
    placeholderData: (before, query) => (query?.queryKey[1] === run.run_id ? before : undefined),
    refetchInterval: ({ state: { data, error } }) => reads && !isRefused(error) && paceOf(data),
  });
}

// The parts of a run that fans out.
import { useQuery } from '@tanstack/react-query';
import { get } from './client';
import { CALM_MS, FAST_MS, isRefused, useEvery } from './queries';
import { FINAL_STATES } from './types';
import type { components } from './schema';

export type RunShards = components['schemas']['RunShards'];
export type RunShard = components['schemas']['RunShard'];

export function useRunShards(run: string) {
  const soon = useEvery(FAST_MS / 2);
  const calm = useEvery(CALM_MS);
  return useQuery({
    queryKey: ['runs', run, 'shards'],
    queryFn: ({ signal }) => get<RunShards>(`runs/${encodeURIComponent(run)}/shards`, {}, signal),
    refetchInterval: ({ state }) =>
      !isRefused(state.error) && (FINAL_STATES.has(state.data?.state ?? '') ? calm : soon),
  });
}

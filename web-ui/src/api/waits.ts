// Query about the runs for which a run of a job that is being edited would wait.
import { useQuery } from '@tanstack/react-query';
import { call } from './client';
import type { RunState, UpstreamWait } from './types';

export interface WaitPreview {
  window: { from: string; until: string };
  fire: string | null; // that counts; null if none is known
  run_id: string | null;
  state: RunState | null;
  met: boolean;
  detail: string;
}
export interface WaitsPreview {
  fire_time: string;
  items: WaitPreview[]; // one for each entry
}

export function useWaitsPreview(wanted: { waits_for: UpstreamWait[]; time_zone: string } | null) {
  return useQuery({
    queryKey: ['preview', 'waits', wanted],
    queryFn: async ({ signal }) =>
      (await call<WaitsPreview>('POST', 'waits/preview', { body: wanted, signal })).data,
    enabled: wanted !== null,
    retry: false,
    staleTime: 0,
  });
}

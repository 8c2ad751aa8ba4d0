// Query about the runs for which a run of a job that is being edited would wait.
import { useQuery } from '@tanstack/react-query';
import { call } from './client';
import type { UpstreamWait, WaitsPreview } from './types';

export interface WaitsAsked {
  waits_for: UpstreamWait[];
  time_zone: string;
  job_id?: string; // the edited job, for which itself would be a circle
}

export function useWaitsPreview(asked: WaitsAsked | null) {
  return useQuery({
    queryKey: ['preview', 'waits', asked],
    queryFn: async ({ signal }) =>
      (await call<WaitsPreview>('POST', 'waits/preview', { body: asked, signal })).data,
    enabled: asked !== null,
    retry: false,
    staleTime: 0,
  });
}

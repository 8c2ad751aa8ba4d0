// Queries about the jobs after which a job starts or for whose runs it waits, and about those that depend on it.
import { useQuery } from '@tanstack/react-query';
import { get } from './client';
import { readJobs } from './job_pages';
import { CALM_MS, isRefused, useEvery } from './queries';
import type { Job, Upstream } from './types';

export interface Dependency {
  job_id: string;
  job_name: string;
  kind?: 'after' | 'node' | 'waits'; // a server of an older version knows `after` only
  on: Upstream | null;
  deleted?: boolean;
}
export interface Dependencies {
  upstream: Dependency[];
  downstream: Dependency[];
  hidden?: number; // jobs that the caller may not read
}

const FOUND_MAX = 20;

export function useDependencies(id: string) {
  const refetchInterval = useEvery(CALM_MS);
  return useQuery({
    queryKey: ['jobs', id, 'dependencies'],
    queryFn: ({ signal }) => get<Dependencies>(`jobs/${encodeURIComponent(id)}/dependencies`, {}, signal),
    refetchInterval: ({ state }) => !isRefused(state.error) && refetchInterval,
  });
}

// Returns the first jobs with `text` in the name or the ID.
export function useFoundJobs(text: string): Job[] {
  const found = useQuery({
    queryKey: ['jobs', '', 'found', text], // no job has an empty id
    queryFn: ({ signal }) => readJobs({ q: text, page_size: FOUND_MAX }, signal),
    placeholderData: (before) => before,
    staleTime: CALM_MS,
  });
  return found.data?.items ?? [];
}

// Returns the name of a job; its ID until the name is known, or if it cannot be read.
export function useJobName(id: string, known?: string): string {
  const read = useQuery({
    queryKey: ['name', 'job', id], // the key names no topic, so that a change does not reload every name
    queryFn: async ({ signal }) => (await get<Job>('jobs/' + encodeURIComponent(id), {}, signal)).name,
    enabled: known === undefined,
    staleTime: Infinity,
    retry: false,
  });
  return known ?? read.data ?? id;
}

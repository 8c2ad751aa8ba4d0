// Queries about the graphs of workflows, and about the nodes of their runs.
import { useQuery } from '@tanstack/react-query';
import { call, get } from './client';
import { CALM_MS, isRefused, useEvery } from './queries';
import { useRunParts } from './run_parts';
import type { components } from './schema';
import { FINAL_STATES, type Run } from './types';

type Schemas = components['schemas'];
export type JobGraph = Schemas['JobGraph'];
export type RunNodes = Schemas['RunNodes'];
export type RunNode = Schemas['RunNode'];
export type WorkflowProblem = Schemas['WorkflowProblem'];
export interface RetryPreview {
  run_again: string[];
  skipped: string[];
}

const A_SECOND = 50; // nodes of 600 bytes

export function useGraph(id: string) {
  const refetchInterval = useEvery(CALM_MS);
  return useQuery({
    queryKey: ['jobs', id, 'graph'],
    queryFn: ({ signal }) => get<JobGraph>(`jobs/${encodeURIComponent(id)}/graph`, {}, signal),
    refetchInterval: ({ state }) => !isRefused(state.error) && refetchInterval,
  });
}

export const useRunNodes = (run: Run, reads = true) =>
  useRunParts<RunNodes>(run, 'nodes', (list) => list.nodes, A_SECOND, reads);

// Counts the nodes of a run that have ended; undefined until it is known. Read at a calm pace, for a list.
export function useEndedNodes(run: string): { ended: number; count: number } | undefined {
  const refetchInterval = useEvery(CALM_MS);
  const { data } = useQuery({
    queryKey: ['ended nodes', run],
    queryFn: ({ signal }) => get<RunNodes>(`runs/${encodeURIComponent(run)}/nodes`, {}, signal),
    select: ({ nodes }) => ({
      ended: nodes.filter(({ state }) => FINAL_STATES.has(state)).length,
      count: nodes.length,
    }),
    refetchInterval: ({ state }) => !isRefused(state.error) && refetchInterval,
  });
  return data;
}

export const previewRetry = async (run: string, body: object) =>
  (
    await call<RetryPreview>('POST', `runs/${encodeURIComponent(run)}/retry`, {
      body: { ...body, dry_run: true },
    })
  ).data;

// The mistakes of a draft.
export function useProblems(workflow: unknown, job_id: string | undefined) {
  return useQuery({
    queryKey: ['workflow draft', workflow, job_id],
    queryFn: async ({ signal }) =>
      (
        await call<{ valid: boolean; problems: WorkflowProblem[] }>('POST', 'workflows/validate', {
          body: { workflow, ...(job_id ? { job_id } : {}) },
          signal,
        })
      ).data.problems,
    enabled: workflow !== undefined,
    placeholderData: (before) => before,
    gcTime: 0,
  });
}

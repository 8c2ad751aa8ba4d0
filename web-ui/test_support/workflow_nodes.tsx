// Nodes of workflows as the server shows them, and a page around a part that has links.
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { render, screen, within } from '@testing-library/react';
import type { ReactElement } from 'react';
import { queryClient } from '../src/api/queries';
import type { Run } from '../src/api/types';

export const SLOW_MS = 60_000;
export const edge = (node: string, more: object = {}) => ({
  node,
  on: 'success',
  if: null,
  recovers: false,
  ...more,
});
export const graphNode = (id: string, more: object = {}) => ({
  id,
  kind: 'job',
  finally: false,
  job_id: id + '-job',
  job_name: 'Job ' + id,
  job_type: 'shell',
  job_state: 'ENABLED',
  after: [],
  trigger_rule: 'all',
  allow_failure: false,
  parameters: {},
  ...more,
});
export const runNode = (id: string, more: object = {}) => ({
  ...graphNode(id),
  run_id: 'run-' + id,
  state: 'COMPLETED',
  blocked: false,
  reason: null,
  error: null,
  attempt: 1,
  started_at: '2026-03-01T02:00:00Z',
  ended_at: '2026-03-01T02:00:03Z',
  exit_code: 0,
  executor_id: 'x',
  failure: false,
  repaired: false,
  ...more,
});
export const run = {
  run_id: 'r1',
  job_id: 'sales',
  state: 'RUNNING',
  attempt: 1,
  job_type: 'workflow',
} as Run;
export const nodes = (...list: object[]) => ({
  run_id: 'r1',
  job_id: 'sales',
  job_version: 1,
  state: 'RUNNING',
  deadline: null,
  max_parallel: 32,
  nodes: list,
});

export function show(element: ReactElement) {
  const router = createRouter({
    routeTree: createRootRoute({ component: () => element }),
    history: createMemoryHistory(),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
}
export const rows = async (label: string) => {
  const table = await screen.findByRole('region', { name: label }, { timeout: SLOW_MS });
  return within(table)
    .getAllByRole('row')
    .slice(1)
    .map((row) =>
      within(row)
        .getAllByRole('cell')
        .map((cell) => cell.textContent),
    );
};

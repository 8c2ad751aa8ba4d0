import '../../../../test_support/texts';
import { QueryClientProvider } from '@tanstack/react-query';
import {
  RouterProvider,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
} from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { queryClient } from '../../../api/queries';
import { parseSearch, stringifySearch } from '../../../lib/search_params';
import { JobPage } from '../detail/job_page';
import { JobsPage } from './jobs_page';
import { HttpResponse, at, http, server } from '../../../../test_support/server';

const problem = 'The definition of job bad (version 1) cannot be read: unknown type.';
const bad = {
  job_id: 'bad',
  name: 'Bad one',
  type: 'shell',
  user_id: 'user-1',
  namespace: 'default',
  version: 1,
  state: 'ENABLED',
  pause_reason: null,
  problem,
  create_time: '2026-03-01T00:00:00Z',
  update_time: '2026-03-01T00:00:00Z',
  allowed_actions: ['cancel', 'delete', 'edit', 'execute', 'pause'],
};

function show(address: string) {
  const root = createRootRoute();
  const jobs = createRoute({ getParentRoute: () => root, path: '/jobs', component: JobsPage });
  const job = createRoute({ getParentRoute: () => root, path: '/jobs/$id', component: JobPage });
  const router = createRouter({
    routeTree: root.addChildren([jobs, job]),
    parseSearch,
    stringifySearch,
    history: createMemoryHistory({ initialEntries: [address] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
}

beforeEach(() => {
  queryClient.clear();
  localStorage.clear();
  server.use(
    http.get(at('jobs'), () => HttpResponse.json({ items: [bad], next_page_token: null })),
    http.get(at('jobs/bad'), () => HttpResponse.json(bad)),
    http.get(at('runs'), () => HttpResponse.json({ items: [], next_page_token: null })),
  );
});

describe('a job whose definition cannot be read', () => {
  it('an unreadable job is listed with its problem and can only be deleted', async () => {
    show('/jobs');
    await screen.findByRole('link', { name: 'Bad one' });
    expect(screen.getByText('Cannot be read').title).toBe(problem);
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Run Bad one now' }).disabled).toBe(true);
    fireEvent.click(screen.getByRole('button', { name: 'More actions for Bad one' }));
    const remove = await screen.findByRole('menuitem', { name: 'Delete' });
    expect(remove.getAttribute('aria-disabled')).not.toBe('true');
    expect(screen.getByRole('menuitem', { name: 'Edit' }).getAttribute('aria-disabled')).toBe('true');
  });

  it('an unreadable job has a page with its problem and its runs', async () => {
    show('/jobs/bad');
    await screen.findByText(problem);
    await waitFor(() => expect(screen.getByText('No runs yet')).toBeTruthy());
    expect(screen.queryByText('Configuration')).toBeNull();
    expect(screen.getByText('Versions')).toBeTruthy();
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Delete' }).disabled).toBe(false);
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Pause' }).disabled).toBe(true);
  });
});

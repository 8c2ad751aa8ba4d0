import '../../../test_support/texts';
import { QueryClientProvider } from '@tanstack/react-query';
import {
  RouterProvider,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
} from '@tanstack/react-router';
import { render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { queryClient } from '../../api/queries';
import { HttpResponse, at, http, server } from '../../../test_support/server';
import { rows } from '../../../test_support/workflow_nodes';
import { WorkflowsPage } from './workflows_page';

beforeEach(() => queryClient.clear());

describe('the list of workflows', () => {
  const open = (search = '') => {
    const root = createRootRoute();
    const list = createRoute({ getParentRoute: () => root, path: '/workflows', component: WorkflowsPage });
    const router = createRouter({
      routeTree: root.addChildren([list]),
      history: createMemoryHistory({ initialEntries: ['/workflows' + search] }),
    });
    render(
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>,
    );
  };
  const answer = (items: object[]) => {
    const asked: string[] = [];
    server.use(
      http.get(at('jobs'), ({ request }) => {
        asked.push(new URL(request.url).search);
        return HttpResponse.json({ items, next_page_token: null, total: items.length });
      }),
    );
    return asked;
  };

  it('the list of workflows links to their graphs', async () => {
    const asked = answer([
      { job_id: 'sales', name: 'Sales', state: 'ENABLED', schedules: [], workflow: { nodes: [{}, {}] } },
    ]);
    open('?q=sal');
    expect((await rows('Workflows'))[0]?.slice(0, 3)).toEqual(['Enabled', 'Sales', '2']);
    expect(screen.getByRole('link', { name: 'Sales' }).getAttribute('href')).toBe('/jobs/sales?tab=graph');
    expect(asked[0]).toContain('type=workflow');
    expect(asked[0]).toContain('q=sal');
  });

  it('the list of workflows says when it is empty', async () => {
    answer([]);
    open();
    expect(await screen.findByText('No workflows')).toBeTruthy();
  });
});

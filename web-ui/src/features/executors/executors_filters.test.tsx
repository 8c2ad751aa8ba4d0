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
import { queryClient } from '../../api/queries';
import { many, one, parseSearch, stringifySearch } from '../../lib/search_params';
import { ExecutorsPage } from './executors_page';
import { HttpResponse, at, http, server } from '../../../test_support/server';

const executor = (id: string, labels: Record<string, string>) => ({
  executor_id: id,
  host: id + '.example',
  labels,
  state: 'ONLINE',
  enabled: true,
  draining: false,
  slots: 4,
  running: 1,
  load: { cpu: 0.5, memory: 0.25 },
  tasks_behind: 0,
  version: '0.1.0',
  last_heartbeat_time: '2026-03-01T00:00:00Z',
  allowed_actions: [],
});
let asked: URLSearchParams[];

beforeEach(() => {
  queryClient.clear();
  asked = [];
  server.use(
    http.get(at('executors'), ({ request }) => {
      const { searchParams } = new URL(request.url);
      asked.push(searchParams);
      const items = [executor('rack-1', { zone: 'a', disk: '' }), executor('rack-2', { zone: 'b' })].filter(
        (one) =>
          one.executor_id.includes(searchParams.get('q') ?? '') &&
          searchParams
            .getAll('label')
            .every((label) => one.labels[label.split(':')[0] as 'zone'] === label.split(':')[1]),
      );
      return HttpResponse.json({ items, next_page_token: null });
    }),
  );
});

function page(search = '') {
  const root = createRootRoute();
  const here = createRoute({
    getParentRoute: () => root,
    path: '/executors',
    component: ExecutorsPage,
    validateSearch: (found) => ({ state: many(found.state), q: one(found.q), label: many(found.label) }),
  });
  const executorPage = createRoute({ getParentRoute: () => root, path: '/executors/$id' });
  const router = createRouter({
    routeTree: root.addChildren([here, executorPage]),
    parseSearch,
    stringifySearch,
    history: createMemoryHistory({ initialEntries: ['/executors' + search] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return () => router.latestLocation.searchStr;
}
const last = () => {
  const of = asked.at(-1)!;
  return [of.getAll('state'), of.get('q'), of.getAll('label')];
};

describe('the executors', () => {
  it('the list of executors filters by its address', async () => {
    page('?state=ONLINE&state=OFFLINE&q=rack&label=zone:a&label=disk:');
    await screen.findByText('rack-1');
    expect(last()).toEqual([['ONLINE', 'OFFLINE'], 'rack', ['zone:a', 'disk:']]);
  });

  it('the list of executors writes chosen filters to its address', async () => {
    const address = page();
    await screen.findByText('rack-2');
    expect(last()).toEqual([[], null, []]);
    fireEvent.click(screen.getByRole('link', { name: /^zone ?= ?a$/ }));
    await waitFor(() => expect(screen.queryByText('rack-2')).toBeNull());
    expect(last()).toEqual([[], null, ['zone:a']]);
    fireEvent.click(screen.getByRole('link', { name: 'disk' }));
    await waitFor(() => expect(last()).toEqual([[], null, ['zone:a', 'disk:']]));
    fireEvent.click(screen.getByRole('button', { name: 'Offline' }));
    await waitFor(() => expect(last()).toEqual([['OFFLINE'], null, ['zone:a', 'disk:']]));
    fireEvent.change(screen.getByRole('searchbox'), { target: { value: ' rack-1 ' } });
    await waitFor(() => expect(last()).toEqual([['OFFLINE'], 'rack-1', ['zone:a', 'disk:']]));
    expect([...new URLSearchParams(address())]).toEqual(
      expect.arrayContaining([
        ['label', 'zone:a'],
        ['label', 'disk:'],
        ['state', 'OFFLINE'],
        ['q', 'rack-1'],
      ]),
    );
    fireEvent.click(screen.getByRole('button', { name: /zone:a/ }));
    await waitFor(() => expect(last()).toEqual([['OFFLINE'], 'rack-1', ['disk:']]));
    fireEvent.click(screen.getByRole('button', { name: 'Clear filters' }));
    await screen.findByText('rack-2');
    expect(address()).toBe('');
  });

  it('the list of executors distinguishes no match from empty', async () => {
    page('?q=gone');
    await screen.findByRole('searchbox');
    await waitFor(() => expect(screen.getAllByRole('button', { name: 'Clear filters' }).length).toBe(2));
    fireEvent.click(screen.getAllByRole('button', { name: 'Clear filters' })[1]!);
    await screen.findByText('rack-1');
  });
});

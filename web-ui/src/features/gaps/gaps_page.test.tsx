import { QueryClientProvider } from '@tanstack/react-query';
import {
  RouterProvider,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
} from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { queryClient } from '../../api/queries';
import { many, one, parseSearch, stringifySearch } from '../../lib/search_params';
import { GapsPage } from './gaps_page';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';

const missed = {
  schedule_id: 7,
  job_id: 'backup',
  from: '2026-03-01T00:00:00Z',
  to: '2026-03-01T00:09:00Z',
  count: 1200,
  reason: 'misfire',
};
const paused = { ...missed, schedule_id: 8, job_id: 'nightly', reason: 'paused', count: 1 };
let asked: string[];
let gaps: (typeof missed)[];

beforeEach(() => {
  queryClient.clear();
  asked = [];
  gaps = [missed, paused];
  server.use(
    http.get(at('gaps'), ({ request }) => {
      const { search, searchParams } = new URL(request.url);
      asked.push(search);
      const reasons = searchParams.getAll('reason');
      const items = gaps.filter((gap) => reasons.length === 0 || reasons.includes(gap.reason));
      return HttpResponse.json({ items, next_page_token: null, total: items.length });
    }),
  );
});

function page(search = '') {
  const root = createRootRoute();
  const here = createRoute({
    getParentRoute: () => root,
    path: '/gaps',
    component: GapsPage,
    validateSearch: (found) => ({
      job_id: one(found.job_id),
      reason: many(found.reason),
      since: one(found.since),
      until: one(found.until),
    }),
  });
  const router = createRouter({
    routeTree: root.addChildren([here]),
    parseSearch,
    stringifySearch,
    history: createMemoryHistory({ initialEntries: ['/gaps' + search] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return router;
}
const rows = () => screen.getAllByRole('row').slice(1);

describe('missed fires', () => {
  it('missed fires: each row has period, count and reason, and links to its job', async () => {
    page();
    await screen.findByText('backup');
    const [first, second] = rows();
    for (const text of ['7', '1,200', 'Too late, or overtaken by a later fire'])
      expect(within(first!).getByText(text)).toBeTruthy();
    expect(within(second!).getByText('Job was paused')).toBeTruthy();
    expect([...first!.querySelectorAll('time')].map((time) => time.dateTime)).toEqual([
      missed.from,
      missed.to,
    ]);
    const why = within(first!).getByRole<HTMLAnchorElement>('link', {
      name: 'Why? Missed fires of backup',
    });
    expect(new URL(why.href).pathname + new URL(why.href).search).toBe(
      '/jobs/backup?tab=why&at=' + encodeURIComponent(missed.from),
    );
  });

  it('missed fires: the address sets the filters, and the filters set the address', async () => {
    const router = page(
      '?job_id=Backup&since=2026-03-01T00:00:00.000Z&until=2026-03-02T00:00:00.000Z&reason=misfire&reason=edited',
    );
    await screen.findByText('backup');
    const first = new URLSearchParams(asked[0]);
    expect([first.get('job_id'), first.get('since'), first.get('until'), first.getAll('reason')]).toEqual([
      'backup',
      '2026-03-01T00:00:00.000Z',
      '2026-03-02T00:00:00.000Z',
      ['misfire', 'edited'],
    ]);
    const reason = screen.getByLabelText<HTMLSelectElement>('Reason');
    expect(reason.selectedOptions[0]!.text).toBe('Too late, or overtaken by a later fire, Job was edited');
    fireEvent.change(reason, { target: { value: 'paused' } });
    await screen.findByText('nightly');
    expect(router.state.location.search).toMatchObject({ job_id: 'Backup', reason: 'paused' });
    expect(screen.queryByText('1,200')).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Clear filters' }));
    await waitFor(() => expect(router.state.location.searchStr).toBe(''));
    await waitFor(() => expect(rows()).toHaveLength(2));
  });

  it('missed fires: an empty list and no match have different texts', async () => {
    gaps = [];
    page();
    await screen.findByText('No missed fires');
    expect(screen.getByText('carillon job gaps --since 24h')).toBeTruthy();
    fireEvent.change(screen.getByLabelText('Reason'), { target: { value: 'deleted' } });
    await screen.findByText('No matches');
  });

  it('missed fires: an invalid job ID matches nothing, and a failed load offers a retry', async () => {
    server.use(
      http.get(at('gaps'), ({ request }) =>
        problem(new URL(request.url).searchParams.has('job_id') ? 400 : 403, 'x', 'x'),
      ),
    );
    page('?job_id=%21');
    await screen.findByText('No matches');
    fireEvent.click(screen.getAllByRole('button', { name: 'Clear filters' })[0]!);
    await screen.findByRole('button', { name: 'Try again' });
  });
});

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
import { parseSearch, stringifySearch } from '../../lib/search_params';
import { EventsPage } from './events_page';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';

const start = { job_id: 'ship', schedule_id: 3, run_id: '9@1', gap: null, problem: null };
const started = {
  namespace: 'default',
  id: '42',
  source: 'shop',
  type: 'order.paid',
  subject: null,
  accepted_at: '2026-03-01T00:00:00Z',
  outcome: 'started',
  starts: [start, { ...start, job_id: 'bill', schedule_id: 4, run_id: null, gap: 'paused' }],
  problem: null,
};
const refused = {
  ...started,
  id: 'orders/0/7',
  type: null,
  outcome: 'refused',
  starts: [],
  problem: 'No JSON.',
};
let asked: URLSearchParams[];
let events: object[];

beforeEach(() => {
  queryClient.clear();
  asked = [];
  events = [started, refused];
  server.use(
    http.get(at('namespaces'), () => HttpResponse.json({ items: [], next_page_token: null })),
    http.get(at('events'), ({ request }) => {
      const { searchParams } = new URL(request.url);
      asked.push(searchParams);
      const outcome = searchParams.get('outcome');
      const items = events.filter((event) => !outcome || (event as typeof started).outcome === outcome);
      return HttpResponse.json({ items, next_page_token: null, total: items.length });
    }),
  );
});

function page(search = '') {
  const root = createRootRoute();
  const here = createRoute({
    getParentRoute: () => root,
    path: '/events',
    component: EventsPage,
    validateSearch: (found) => found,
  });
  const router = createRouter({
    routeTree: root.addChildren([here]),
    parseSearch,
    stringifySearch,
    history: createMemoryHistory({ initialEntries: ['/events' + search] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return router;
}
const box = () => screen.getByRole('region', { name: 'Test the event' });
const test = () => fireEvent.click(within(box()).getByRole('button'));

describe('events', () => {
  it('events: each row has what the event did, or why it was refused', async () => {
    page();
    const run = await screen.findByRole<HTMLAnchorElement>('link', { name: 'Run of ship' });
    expect(decodeURIComponent(new URL(run.href).pathname)).toBe('/runs/9@1');
    expect(screen.getByText('Job was paused')).toBeTruthy();
    expect(screen.getByRole('link', { name: 'bill' })).toBeTruthy();
    expect(screen.getByText('No JSON.').lang).toBe('en');
  });

  it('events: the address sets the filters, and the filters set the address', async () => {
    const router = page('?type=order.*&source=shop&namespace=default');
    await screen.findByText('order.paid');
    expect(asked[0]!.get('type')).toBe('order.*');
    expect(asked[0]!.get('source')).toBe('shop');
    expect(asked[0]!.getAll('namespace')).toEqual(['default']);
    fireEvent.change(screen.getByLabelText('Outcome'), { target: { value: 'refused' } });
    await waitFor(() => expect(screen.queryByText('order.paid')).toBeNull());
    expect(router.state.location.search).toMatchObject({ type: 'order.*', outcome: 'refused' });
  });

  it('events: an empty list, no match and a failed load have different texts', async () => {
    events = [];
    page();
    await screen.findByText('No events');
    fireEvent.change(screen.getByLabelText('Outcome'), { target: { value: 'gap' } });
    await screen.findByText('No matches');
    server.use(http.get(at('events'), () => problem(403, 'x', 'x')));
    fireEvent.change(screen.getByLabelText('Outcome'), { target: { value: 'started' } });
    await screen.findByRole('button', { name: 'Try again' });
  });

  it('the test of an event asks all triggers of the namespace and shows each answer', async () => {
    const sent: unknown[] = [];
    const verdict = {
      job_id: 'ship',
      schedule_id: 3,
      result: 'matched',
      sentence: 'The event starts a run.',
      parameters: { amount: 12.5, note: 'x' },
      untrusted: ['note'],
    };
    server.use(
      http.post(at('events/test'), async ({ request }) => {
        sent.push(await request.json());
        return HttpResponse.json({ items: [verdict] });
      }),
    );
    page('?namespace=sales');
    await screen.findByText('order.paid');
    const field = await screen.findByLabelText('Event (JSON)');
    fireEvent.change(field, { target: { value: '[1]' } });
    expect(within(box()).getByRole<HTMLButtonElement>('button').disabled).toBe(true);
    fireEvent.change(field, { target: { value: '{"id": "1"}' } });
    test();
    await screen.findByText('The event starts a run.');
    expect(sent).toEqual([{ namespace: 'sales', event: { id: '1' } }]);
    expect(within(box()).getByText('12.5')).toBeTruthy();
    expect(within(box()).getAllByText('from outside')).toHaveLength(1);
    server.use(http.post(at('events/test'), () => problem(400, 'x', 'Wrong.')));
    test();
    await within(box()).findByText(/Wrong\./);
  });
});

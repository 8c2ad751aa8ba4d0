import { QueryClientProvider } from '@tanstack/react-query';
import {
  RouterProvider,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
} from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { queryClient, useStatus } from '../../api/queries';
import { Banners } from '../../app/banners/banners';
import { parseSearch, stringifySearch } from '../../lib/search_params';
import { PauseCard } from './pause_card';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';
import '../../app/banners/overload_banner';
import '../../app/banners/pause_banner';
import './pause_dialog';
import '../../ui/dialogs/modal_dialog';

const permissions = vi.hoisted(() => ({ of: ['config:write'] }));
vi.mock('../../auth/session', async (original) => ({
  ...(await original<typeof import('../../auth/session')>()),
  useMay: (one: string) => permissions.of.includes(one),
}));

const status = {
  leader: 'm1',
  members: [],
  store_reachable: true,
  store: { state: 'trusted' },
  paused: null,
};
const pause = { since: '2026-03-01T02:00:00Z', by: 'anna', reason: 'the database is moved' };
let now: object;
let sent: unknown[];
let asked: number;
beforeEach(() => {
  queryClient.clear();
  permissions.of = ['config:write'];
  now = status;
  sent = [];
  asked = 0;
  server.use(
    http.get(at('system/status'), () => {
      asked += 1;
      return HttpResponse.json(now);
    }),
    http.post(at('system/pause'), async ({ request }) => {
      const body = (await request.json()) as { reason: string };
      sent.push(body);
      if (!body.reason)
        return problem(400, 'invalid', 'Say why.', {
          errors: [
            { pointer: '/reason', code: 'missing', detail: 'A reason is required; it is shown to everyone.' },
          ],
        });
      now = { ...status, paused: { ...pause, reason: body.reason } };
      return HttpResponse.json({ paused: { ...pause, reason: body.reason }, version: 4 });
    }),
    http.post(at('system/resume'), async ({ request }) => {
      sent.push(await request.json());
      now = status;
      return HttpResponse.json({ paused: null, version: 5 });
    }),
  );
});

function Page() {
  const { data } = useStatus();
  return (
    <>
      <Banners />
      {data && <PauseCard status={data} />}
    </>
  );
}
async function open(search = '') {
  const root = createRootRoute();
  const here = createRoute({ getParentRoute: () => root, path: '/system', component: Page });
  const router = createRouter({
    routeTree: root.addChildren([here]),
    parseSearch,
    stringifySearch,
    history: createMemoryHistory({ initialEntries: ['/system' + search] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  await screen.findByRole('heading', { name: 'Cluster' });
  return router;
}

describe('the pause of the cluster', () => {
  it('the cluster pause explains its effect, requires a reason and is shown at once', async () => {
    const router = await open();
    fireEvent.click(screen.getByRole('button', { name: 'Pause the cluster…' }));
    const dialog = await screen.findByRole('dialog');
    expect(router.state.location.searchStr).toBe('?ask=pause');
    expect(dialog.textContent).toContain('Active runs continue');
    fireEvent.click(within(dialog).getByRole('button', { name: 'Pause the cluster' }));
    expect((await within(dialog).findByRole('alert')).textContent).not.toBe('');
    expect(within(dialog).getByLabelText('Reason').getAttribute('aria-invalid')).toBe('true');
    fireEvent.change(within(dialog).getByLabelText('Reason'), { target: { value: ' upgrade ' } });
    fireEvent.click(within(dialog).getByRole('button', { name: 'Pause the cluster' }));
    const told = await screen.findByTestId('paused');
    expect(told.textContent).toMatch(/paused by anna: upgrade\. No runs start\. Paused:/);
    expect(sent).toEqual([{ reason: '' }, { reason: 'upgrade' }]);
    await waitFor(() => expect(router.state.location.searchStr).toBe(''));
  });

  it('the cluster resumes by one button, and the banner disappears', async () => {
    now = { ...status, paused: pause };
    await open();
    expect((await screen.findByTestId('paused')).textContent).toContain('the database is moved');
    expect(screen.getByRole('link', { name: 'System' }).getAttribute('href')).toBe('/system');
    const before = asked;
    fireEvent.click(screen.getByRole('button', { name: 'Resume the cluster' }));
    await waitFor(() => expect(screen.queryByTestId('paused')).toBeNull());
    await screen.findByRole('button', { name: 'Pause the cluster…' });
    expect(sent).toEqual([{}]);
    await waitFor(() => expect(asked).toBeGreaterThan(before));
  });

  it('a banner says which runs are skipped under overload', async () => {
    now = { ...status, overload: { late_s: 10, below: 20, since: '2026-03-01T02:00:00Z', shed: 1234 } };
    await open();
    const told = (await screen.findByTestId('overload')).textContent;
    expect(told).toContain('a priority under 20');
    expect(told).toContain('(1,234 so far)');
    expect(screen.getByRole('link', { name: 'Runs' }).getAttribute('href')).toContain('SKIPPED');
  });

  it('the cluster pause is disabled for everybody but administrators', async () => {
    permissions.of = ['jobs:write'];
    await open('?ask=pause');
    const button = screen.getByRole<HTMLButtonElement>('button', { name: 'Pause the cluster…' });
    expect([button.disabled, button.title]).toEqual([
      true,
      'Only administrators can pause and resume the cluster.',
    ]);
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  it('the pause card works with a server that does not report a pause', async () => {
    const { paused: _, ...older } = status;
    now = older;
    await open();
    expect(screen.getByText('Running normally.')).toBeTruthy();
    expect(screen.queryByTestId('paused')).toBeNull();
  });
});

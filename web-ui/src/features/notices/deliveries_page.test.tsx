import '../../../test_support/texts';
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
import { queryClient } from '../../api/queries';
import { parseSearch, stringifySearch } from '../../lib/search_params';
import { DeliveriesPage } from './deliveries_page';
import { TestNoticeDialog } from './send_test_dialog';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';
import '../../ui/dialogs/modal_dialog';

const permissions = vi.hoisted(() => ({ of: ['config:write'] }));
vi.mock('../../auth/session', async (original) => ({
  ...(await original<typeof import('../../auth/session')>()),
  useMay: (one: string) => permissions.of.includes(one),
}));

const pending = {
  id: '17',
  notice_id: 'ntc_9',
  channel: 'webhook',
  kind: 'failed',
  job_id: 'backup',
  run_id: 'r-1',
  state: 'PENDING',
  attempts: 2,
  create_time: '2026-03-01T02:00:00Z',
  next_try_time: '2026-03-01T02:00:30Z',
  end_time: null,
  status: 503,
  error: 'the receiver answered 503',
  recipients: [],
};
const sent = {
  ...pending,
  id: '16',
  channel: 'mail',
  kind: 'missed',
  job_id: 'nightly',
  run_id: null,
  state: 'DELIVERED',
  attempts: 1,
  next_try_time: null,
  end_time: '2026-03-01T02:00:01Z',
  status: 250,
  error: null,
  recipients: ['ops@example.org', 'night@example.org'],
};
const show = (element: React.ReactElement) =>
  render(<QueryClientProvider client={queryClient}>{element}</QueryClientProvider>);
beforeEach(() => {
  queryClient.clear();
  permissions.of = ['config:write'];
});

function page(search = '') {
  const root = createRootRoute();
  const here = createRoute({
    getParentRoute: () => root,
    path: '/admin/deliveries',
    component: DeliveriesPage,
  });
  const router = createRouter({
    routeTree: root.addChildren([here]),
    parseSearch,
    stringifySearch,
    history: createMemoryHistory({ initialEntries: ['/admin/deliveries' + search] }),
  });
  show(<RouterProvider router={router as never} />);
  return router;
}
function list(items: object[]) {
  const asked: string[] = [];
  server.use(
    http.get(at('deliveries'), ({ request }) => {
      asked.push(new URL(request.url).searchParams.toString());
      return HttpResponse.json({ items, next_page_token: null });
    }),
  );
  return asked;
}
const row = async (job: string) => (await screen.findByRole('link', { name: job })).closest('tr')!;

describe('the page of deliveries', () => {
  it('deliveries: each row has event, channel, recipient and result', async () => {
    list([pending, sent]);
    page();
    const failed = await row('backup');
    expect(failed.textContent).toContain('Pending');
    expect(failed.textContent).toContain('Run failed');
    expect(failed.textContent).toContain('Webhook');
    expect(failed.textContent).toContain('the receiver answered 503');
    expect(failed.querySelector('[data-column=tries]')!.textContent).toContain('2');
    expect(failed.querySelector('[data-column=next] time')).not.toBeNull();
    expect(within(failed).getByRole('link', { name: 'View run' }).getAttribute('href')).toBe('/runs/r-1');
    const missed = await row('nightly');
    expect(missed.textContent).toContain('Missed fires');
    expect(missed.textContent).toContain('night@example.org');
    expect(missed.querySelector('[data-column=next] time')).toBeNull();
    expect(missed.querySelector('[data-column=error]')!.textContent).toBe('');
    expect(within(missed).queryByRole('link', { name: 'View run' })).toBeNull();
  });

  it('deliveries: the address sets the filters, and the filters set the address', async () => {
    const asked = list([pending]);
    const router = page('?state=PENDING&job_id=backup');
    await row('backup');
    expect(asked[0]).toContain('state=PENDING');
    expect(asked[0]).toContain('job_id=backup');
    fireEvent.change(screen.getByLabelText('Event'), { target: { value: 'failed' } });
    await waitFor(() => expect(asked.at(-1)).toContain('kind=failed'));
    expect(router.state.location.searchStr).toBe('?state=PENDING&job_id=backup&kind=failed');
    fireEvent.change(screen.getByLabelText('State'), { target: { value: '' } });
    await waitFor(() => expect(router.state.location.searchStr).toBe('?job_id=backup&kind=failed'));
  });

  it('deliveries: an empty list says so', async () => {
    list([]);
    page();
    await screen.findByText('No notifications yet');
  });

  it('deliveries: no match offers to clear the filters', async () => {
    list([]);
    const router = page('?kind=late');
    await screen.findByText('No matches');
    fireEvent.click(screen.getAllByRole('button', { name: 'Clear filters' }).at(-1)!);
    await waitFor(() => expect(router.state.location.searchStr).toBe(''));
  });

  it('deliveries: a failed load says why, and an invalid ID matches nothing', async () => {
    server.use(
      http.get(at('deliveries'), ({ request }) =>
        new URL(request.url).searchParams.has('job_id')
          ? problem(400, 'invalid_request', 'This is not a job_id.')
          : problem(403, 'denied', 'Not for you.'),
      ),
    );
    page('?job_id=No');
    await screen.findByText('No matches');
    fireEvent.click(screen.getAllByRole('button', { name: 'Clear filters' }).at(-1)!);
    await screen.findByText('You do not have permission to view this');
  });

  it('deliveries: resend rereads the list, also after a refusal', async () => {
    const asked = list([sent]);
    let tries = 0;
    server.use(
      http.post(at('deliveries/16/resend'), () =>
        ++tries === 1
          ? HttpResponse.json({ ...sent, state: 'PENDING' }, { status: 202 })
          : problem(404, 'not_found', 'There is no such delivery.'),
      ),
    );
    page();
    fireEvent.click(await screen.findByRole('button', { name: 'Resend notification 16 of nightly' }));
    await waitFor(() => expect(asked.length).toBe(2));
    await waitFor(() =>
      expect(
        screen.getByRole<HTMLButtonElement>('button', { name: 'Resend notification 16 of nightly' }).disabled,
      ).toBe(false),
    );
    fireEvent.click(screen.getByRole('button', { name: 'Resend notification 16 of nightly' }));
    await waitFor(() => expect(asked.length).toBe(3));
    expect(tries).toBe(2);
  });

  it('deliveries: sending is disabled for everybody but administrators', async () => {
    permissions.of = ['jobs:write'];
    list([pending]);
    page();
    const again = await screen.findByRole<HTMLButtonElement>('button', {
      name: 'Resend notification 17 of backup',
    });
    const test = screen.getByRole<HTMLButtonElement>('button', { name: 'Send a test notification' });
    expect([again.disabled, test.disabled]).toEqual([true, true]);
    expect([again.title, test.title]).toEqual(Array(2).fill('Only administrators can send notifications.'));
  });
});

describe('a test notice', () => {
  it('the test notification is sent on request and shows each channel’s answer', async () => {
    let sentTests = 0;
    server.use(
      http.post(at('notify/test'), () => {
        sentTests++;
        return HttpResponse.json({
          channels: [
            { channel: 'webhook', delivered: true, status: 204, error: null },
            {
              channel: 'mail',
              delivered: false,
              status: null,
              error: 'mail to 127.0.0.1: Connection refused',
            },
          ],
        });
      }),
    );
    show(<TestNoticeDialog onClose={() => {}} />);
    const send = await screen.findByRole('button', { name: 'Send' });
    expect(sentTests).toBe(0);
    fireEvent.click(send);
    const answers = await screen.findByRole('list', { name: 'Results' });
    const [webhook, mail] = within(answers).getAllByRole('listitem');
    expect(webhook!.textContent).toBe('WebhookDelivered204');
    expect(mail!.textContent).toBe('MailFailedmail to 127.0.0.1: Connection refused');
    expect(sentTests).toBe(1);
  });

  it('the test notification says when no channel is configured', async () => {
    server.use(
      http.post(at('notify/test'), () =>
        problem(409, 'no_notify_channel', 'Nothing is set up to send notices with.'),
      ),
    );
    show(<TestNoticeDialog onClose={() => {}} />);
    fireEvent.click(await screen.findByRole('button', { name: 'Send' }));
    expect((await screen.findByRole('alert')).textContent).toBe('Nothing is set up to send notices with.');
  });
});

import { QueryClientProvider } from '@tanstack/react-query';
import {
  RouterProvider,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
} from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { queryClient } from '../../api/queries';
import { parseSearch, stringifySearch } from '../../lib/search_params';
import { signOut } from '../../auth/session';
import { DeadLettersPage } from './dead_letters_page';
import { signedInAs } from '../../../test_support/person';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';
import './dead_letter_dialog';
import '../bulk/bulk_dialog';
import '../../ui/dialogs/modal_dialog';

const failed = {
  id: '17',
  run_id: 'r-1',
  job_id: 'backup',
  state: 'FAILED',
  attempts: 3,
  reason: 'exit_code',
  create_time: '2026-03-01T02:00:00Z',
};
const lost = {
  ...failed,
  id: '16',
  run_id: 'r-2',
  job_id: 'nightly',
  state: 'LOST',
  attempts: 1,
  reason: 'executor_lost',
};
interface Sent {
  method: string;
  path: string;
  body: unknown;
  key: string | null;
}
let sent: Sent[];
let letters: { id: string; job_id: string }[];
let retries: (() => Response)[];
let allowed: string[];

beforeEach(async () => {
  queryClient.clear();
  sent = [];
  letters = [failed, lost];
  retries = [];
  allowed = ['discard'];
  await signedInAs(['jobs:run:own']);
  const note = async (request: Request) => {
    const text = await request.text();
    sent.push({
      method: request.method,
      path: new URL(request.url).pathname.split('/api/')[1]!,
      body: text ? JSON.parse(text) : undefined,
      key: request.headers.get('Idempotency-Key'),
    });
  };
  server.use(
    http.get(at('dead-letters'), ({ request }) => {
      const job = new URL(request.url).searchParams.get('job_id');
      const items = letters.filter((one) => job === null || one.job_id === job);
      return HttpResponse.json({ items, next_page_token: null, total: items.length });
    }),
    http.get(at('dead-letters/:id'), ({ params }) =>
      HttpResponse.json({ ...(params.id === '17' ? failed : lost), allowed_actions: allowed }),
    ),
    http.delete(at('dead-letters/:id'), async ({ request }) => {
      await note(request);
      letters = [lost];
      return new HttpResponse(null, { status: 204 });
    }),
    http.post(at('bulk'), async ({ request }) => {
      const body = (await request.clone().json()) as { dry_run?: boolean; action: string; ids?: string[] };
      await note(request);
      const ids = body.ids ?? ['17', '15'];
      const items = ids.map((id) => ({
        id,
        result: body.dry_run ? 'would' : 'done',
        run_id: null,
        error: null,
      }));
      if (!body.dry_run) letters = letters.filter((one) => !ids.includes(one.id));
      return HttpResponse.json({
        action: body.action,
        kind: 'dead_letter',
        dry_run: body.dry_run ?? false,
        total: items.length,
        more: false,
        done: items.length,
        failed: 0,
        items,
      });
    }),
    http.post(at('runs/:id/retry'), async ({ request }) => {
      await note(request);
      return retries.shift()?.() ?? HttpResponse.json({ run_id: 'r-1', state: 'PENDING' }, { status: 202 });
    }),
  );
});
afterEach(() => signOut());

function page(search = '') {
  const root = createRootRoute();
  const here = createRoute({
    getParentRoute: () => root,
    path: '/admin/dead-letters',
    component: DeadLettersPage,
  });
  const router = createRouter({
    routeTree: root.addChildren([here]),
    parseSearch,
    stringifySearch,
    history: createMemoryHistory({ initialEntries: ['/admin/dead-letters' + search] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return router;
}
const row = async (job: string) => (await screen.findByRole('link', { name: job })).closest('tr')!;
const press = async (name: string, within_: HTMLElement = document.body) =>
  fireEvent.click(await within(within_).findByRole('button', { name }));

describe('the dead letters', () => {
  it('dead letters: each row names job, run, reason and attempts', async () => {
    page();
    const first = await row('backup');
    for (const text of ['Failed', 'Exit code', '3']) expect(first.textContent).toContain(text);
    expect(within(first).getByRole('link', { name: 'View run' }).getAttribute('href')).toBe('/runs/r-1');
    expect((await row('nightly')).textContent).toContain('Executor lost');
  });

  it('dead letters: the job filter is kept in the address', async () => {
    const router = page('?job_id=nightly');
    await row('nightly');
    expect(screen.queryByRole('link', { name: 'backup' })).toBeNull();
    fireEvent.change(screen.getByLabelText('Exact job ID'), { target: { value: 'nothing' } });
    await screen.findByText('No matches');
    expect(router.state.location.searchStr).toBe('?job_id=nothing');
    await press('Clear filters');
    await row('backup');
    expect(router.state.location.searchStr).toBe('');
  });

  it('dead letters: the filter ignores case, and an invalid ID matches nothing', async () => {
    page('?job_id=NightLy');
    await row('nightly');
    server.use(http.get(at('dead-letters'), () => problem(400, 'invalid', 'No id.')));
    fireEvent.change(screen.getByLabelText('Exact job ID'), {
      target: { value: 'Nightly report' },
    });
    await screen.findByText('No matches');
    expect(screen.queryByText('Could not load this')).toBeNull();
  });

  it('dead letters: an empty list and a failed load are told apart', async () => {
    letters = [];
    page();
    await screen.findByText('No dead letters');
    screen.getByText('carillon dead-letter list');
    server.use(http.get(at('dead-letters'), () => problem(403, 'denied', 'Not for you.')));
    await queryClient.resetQueries();
    await screen.findByText('You do not have permission to view this');
  });

  it('dead letters: retry sends one request with a key after a confirmation', async () => {
    page();
    await press('Retry run 17 of backup');
    const dialog = await screen.findByRole('dialog');
    expect(dialog.textContent).toContain('has used 3 attempts');
    expect(sent).toEqual([]);
    await press('Retry', dialog);
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(sent).toMatchObject([{ method: 'POST', path: 'runs/r-1/retry', body: {} }]);
    expect(sent[0]!.key).toBeTruthy();
  });

  it('dead letters: retry beside a process that may still run needs a second confirmation', async () => {
    retries = [
      () =>
        problem(409, 'conflict', 'Its process may still run.', {
          errors: [{ pointer: '/confirm_overlap', code: 'conflict', detail: 'Its process may still run.' }],
        }),
    ];
    page();
    await press('Retry run 16 of nightly');
    const dialog = await screen.findByRole('dialog');
    await press('Retry', dialog);
    await within(dialog).findByText(/two processes may run at the same time/);
    await press('Continue anyway', dialog);
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(sent.map((one) => one.body)).toEqual([{}, { confirm_overlap: true }]);
    expect(sent[0]!.key).not.toBe(sent[1]!.key);
  });

  it('dead letters: a retry that confirming does not permit is an error', async () => {
    retries = [() => problem(409, 'conflict', 'The run is running.')];
    page();
    await press('Retry run 16 of nightly');
    const dialog = await screen.findByRole('dialog');
    await press('Retry', dialog);
    expect((await within(dialog).findByRole('alert')).textContent).toContain('The run is running.');
    expect(within(dialog).queryByRole('button', { name: 'Continue anyway' })).toBeNull();
  });

  it('dead letters: discard asks first and removes the row', async () => {
    page();
    await press('Discard run 17 of backup');
    const dialog = await screen.findByRole('dialog');
    await press('Cancel', dialog);
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(sent).toEqual([]);
    await press('Discard run 17 of backup');
    await press('Discard', await screen.findByRole('dialog'));
    await waitFor(() => expect(screen.queryByRole('link', { name: 'backup' })).toBeNull());
    expect(sent).toMatchObject([{ method: 'DELETE', path: 'dead-letters/17' }]);
  });

  it('dead letters: the dialog names the owner or the role as the reason of a refusal', async () => {
    allowed = [];
    page();
    await press('Discard run 17 of backup');
    const dialog = await screen.findByRole('dialog');
    expect((await within(dialog).findByRole('alert')).textContent).toBe(
      'Owned by another user and not shared with you.',
    );
    expect(within(dialog).queryByRole('button', { name: 'Discard' })).toBeNull();
    fireEvent.click(within(dialog).getAllByRole('button', { name: 'Close' })[0]!);
    await signedInAs(['read']);
    const button = await screen.findByRole<HTMLButtonElement>('button', { name: 'Discard run 17 of backup' });
    await waitFor(() => expect([button.disabled, button.title]).toEqual([true, 'Your role is read-only.']));
  });
});

describe('the failing jobs', () => {
  const job = (id: string, more: object = {}) => ({
    job_id: id,
    job_name: 'Job ' + id,
    failing_since: '2026-03-01T02:00:00Z',
    failures: 6,
    more_failures: false,
    last_run_id: 'r-1',
    last_state: 'FAILED',
    last_failure_time: '2026-03-01T03:00:00Z',
    last_success_time: null,
    dead_letters: 2,
    ...more,
  });
  beforeEach(() => {
    server.use(
      http.get(at('failing-jobs'), () =>
        HttpResponse.json({ items: [job('backup'), job('sync')], next_page_token: 'x', total: 25 }),
      ),
    );
  });

  it('failing jobs come first, each once, with the total', async () => {
    page();
    const card = (await screen.findByRole('heading', { name: 'Failing jobs · 25' })).closest('section')!;
    const first = within(card).getByRole('link', { name: 'Job backup' }).closest('tr')!;
    expect(first.textContent).toContain('6');
    expect(first.textContent).toContain('None on record');
    expect(within(first).getByRole('link', { name: 'Dead letters of backup' }).getAttribute('href')).toBe(
      '/admin/dead-letters?job_id=backup',
    );
    await press('Load more', card);
  });

  it('failing jobs: all dead letters of a job are discarded at once', async () => {
    page();
    await press('Discard all dead letters of backup');
    const dialog = await screen.findByRole('dialog');
    await within(dialog).findByText('2 of 2 dead letters can be discarded');
    expect(sent.map((one) => one.body)).toEqual([
      { action: 'discard', kind: 'dead_letter', filter: { job_id: 'backup' }, dry_run: true },
    ]);
    await press('Discard', dialog);
    await within(dialog).findByText('2 done, 0 failed');
    expect(sent[1]!.body).toEqual({ action: 'discard', kind: 'dead_letter', ids: ['17', '15'] });
    await waitFor(() => expect(screen.queryByRole('link', { name: 'backup' })).toBeNull());
  });

  it('failing jobs: all dead letters of a job are retried at once, also from its own page', async () => {
    page('?job_id=backup');
    await row('backup');
    expect(screen.queryByRole('heading', { name: /Failing jobs/ })).toBeNull();
    await press('Retry all dead letters of backup');
    const dialog = await screen.findByRole('dialog');
    fireEvent.click(await within(dialog).findByRole('checkbox'));
    await press('Retry', dialog);
    await within(dialog).findByText('2 done, 0 failed');
    expect(sent[1]!.body).toMatchObject({ action: 'retry', ids: ['17', '15'], confirm_overlap: true });
  });
});

describe('selected dead letters', () => {
  it('dead letters: selected ones are discarded together', async () => {
    page();
    fireEvent.click(await screen.findByRole('checkbox', { name: 'Select nightly 16' }));
    expect(screen.getByText('1 selected')).toBeTruthy();
    fireEvent.click(screen.getByRole('checkbox', { name: 'Select all 2 shown' }));
    await press('Discard', screen.getByRole('group', { name: 'Actions for the selection' }));
    const dialog = await screen.findByRole('dialog');
    await within(dialog).findByText('2 of 2 dead letters can be discarded');
    await press('Discard', dialog);
    await within(dialog).findByText('2 done, 0 failed');
    expect((sent[1]!.body as { ids: string[] }).ids.toSorted()).toEqual(['16', '17']);
    fireEvent.click(within(dialog).getAllByRole('button', { name: 'Close' })[0]!);
    await screen.findByText('No dead letters');
  });
});

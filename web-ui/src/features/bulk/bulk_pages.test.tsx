import '../../../test_support/texts';
import { QueryClientProvider } from '@tanstack/react-query';
import {
  RouterProvider,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  type AnyRoute,
} from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ChangeStream } from '../../api/changes';
import { queryClient } from '../../api/queries';
import { parseSearch, stringifySearch } from '../../lib/search_params';
import { signOut } from '../../auth/session';
import { BulkListPage } from './bulk_list_page';
import { BulkPage } from './bulk_page';
import { useColumns } from '../lists/columns';
import { ListBar, useSelectable } from '../lists/list_bar';
import { signedInAs } from '../../../test_support/person';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';
import '../lists/list_tools';
import './bulk_dialog';
import '../../ui/dialogs/modal_dialog';

const running = {
  bulk_id: 'blk-1',
  action: 'pause',
  kind: 'job',
  state: 'RUNNING',
  reason: 'moving',
  confirm_overlap: false,
  total: 1200,
  done: 300,
  failed: 2,
  skipped: 0,
  actor: 'anna',
  user_id: 'user-1',
  error: null,
  create_time: '2026-03-01T02:00:00Z',
  update_time: '2026-03-01T02:00:10Z',
  end_time: null,
  allowed_actions: ['cancel'],
};
const ended = {
  ...running,
  bulk_id: 'blk-0',
  action: 'retry',
  kind: 'run',
  state: 'DONE',
  total: 60,
  done: 60,
  failed: 0,
  end_time: '2026-03-01T02:01:00Z',
};

beforeEach(async () => {
  queryClient.clear();
  await signedInAs(['jobs:write:own', 'jobs:run:own']);
});
afterEach(() => signOut());

function show(path: string, component: (props: never) => React.ReactNode, address: string) {
  const root = createRootRoute();
  const here: AnyRoute = createRoute({ getParentRoute: () => root, path, component: component as never });
  const router = createRouter({
    routeTree: root.addChildren([here]),
    parseSearch,
    stringifySearch,
    history: createMemoryHistory({ initialEntries: [address] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return router;
}
const queryOf = (request: Request) => new URL(request.url).searchParams.toString();

describe('the bar', () => {
  const jobs = Array.from({ length: 60 }, (_, i) => ({ id: 'job-' + i, name: 'Job ' + i, state: 'ENABLED' }));
  function List() {
    const columns = useColumns('job', []);
    return (
      <ListBar
        always="Job"
        list={useSelectable({
          kind: 'job',
          search: { q: 'job' },
          rows: jobs,
          hasMore: true,
          total: null,
          columns,
        })}
      />
    );
  }
  interface Asked {
    action: string;
    ids?: string[];
    filter?: object;
    dry_run?: boolean;
    background?: boolean;
    reason?: string;
    key: string | null;
  }
  // `matching` is the number of items in the preview of a filter. `answers` are the responses, in order, to
  // the requests that hand the action over.
  function bulk(matching: number, more: boolean, answers: (() => Response | Promise<Response>)[] = []) {
    const asked: Asked[] = [];
    server.use(
      http.post(at('bulk'), async ({ request }) => {
        const body = { ...((await request.json()) as Asked), key: request.headers.get('Idempotency-Key') };
        asked.push(body);
        if (body.background)
          return answers.shift()?.() ?? HttpResponse.json({ ...running, total: matching }, { status: 202 });
        const ids = body.ids ?? Array.from({ length: matching }, (_, i) => 'job-' + i);
        return HttpResponse.json({
          total: ids.length,
          more,
          items: ids.map((id) => ({ id, result: 'would', run_id: null, error: null })),
        });
      }),
      http.get(at('bulk/blk-1'), () => HttpResponse.json(running)),
    );
    return { asked, handed: () => asked.filter((one) => one.background) };
  }
  const choose = async (all: boolean) => {
    show('/', List, '/?q=job');
    fireEvent.click(await screen.findByRole('checkbox', { name: 'Select all 60 shown' }));
    if (!all) return;
    fireEvent.click(screen.getByRole('button', { name: 'Select all matches' }));
    await screen.findByText(/that match|all of them are selected/);
  };
  const pause = async () => {
    fireEvent.click(screen.getByRole('button', { name: 'Pause' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Pause these jobs?' }));
    await dialog.findByText(/can be paused/);
    return dialog;
  };

  it('the list bar hands more than 50 items to the server and links to the progress', async () => {
    const { handed } = bulk(60, false);
    await choose(false);
    const dialog = await pause();
    dialog.getByText(/The server processes the items/);
    fireEvent.change(dialog.getByLabelText('Reason (optional)'), { target: { value: ' moving ' } });
    fireEvent.click(dialog.getByRole('button', { name: 'Pause' }));
    await dialog.findByText('The server is working on this. You can leave this page.');
    expect((await dialog.findByRole('link', { name: 'View progress' })).getAttribute('href')).toBe(
      '/bulk/blk-1',
    );
    expect(handed()).toHaveLength(1);
    expect(handed()[0]).toMatchObject({
      action: 'pause',
      kind: 'job',
      reason: 'moving',
      ids: jobs.map((job) => job.id),
    });
    expect(handed()[0]!.key).toMatch(/^[0-9a-f]{32}$/);
    fireEvent.click(dialog.getAllByRole('button', { name: 'Close' }).at(-1)!);
    const bar = within(await screen.findByTestId('under-way'));
    expect(bar.getByRole('link', { name: 'Pause 1,200 jobs' }).getAttribute('href')).toBe('/bulk/blk-1');
    await bar.findByText('300 done, 2 failed, 898 of 1,200 remaining');
    expect(screen.queryByText('60 selected')).toBeNull();
  });

  it('the list bar offers to kill only for a cancel, and sends the choice', async () => {
    const { asked } = bulk(2, false);
    await choose(false);
    expect((await pause()).queryByLabelText(/Kill immediately/)).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
    fireEvent.click(await screen.findByRole('button', { name: 'Cancel runs' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Cancel all runs of these jobs?' }));
    await dialog.findByText(/can be cancelled/);
    fireEvent.click(dialog.getByRole('checkbox', { name: /Kill immediately/ }));
    fireEvent.click(dialog.getByRole('button', { name: 'Cancel runs' }));
    await waitFor(() =>
      expect(asked.find((one) => !one.dry_run)).toMatchObject({
        action: 'cancel',
        kind: 'job',
        mode: 'kill',
      }),
    );
  });

  it('the list bar sends the filter when more match than a preview shows', async () => {
    const { handed } = bulk(1000, true);
    await choose(true);
    const dialog = await pause();
    dialog.getByText(/More than 1000 match/);
    fireEvent.click(dialog.getByRole('button', { name: 'Pause' }));
    await dialog.findByText(/The server is working on this/);
    expect(handed()[0]).toMatchObject({ filter: { q: 'job' } });
    expect(handed()[0]!.ids).toBeUndefined();
  });

  it('the list bar shows a refusal and an unknown outcome, and repeats the same request', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'], shouldAdvanceTime: true, advanceTimeDelta: 20 });
    const lost = () => problem(504, 'outcome_unknown', 'Look at the actions.');
    const { handed } = bulk(60, false, [
      () => problem(400, 'invalid', 'Too many for one action.'),
      lost,
      lost,
      lost,
      lost,
    ]);
    await choose(false);
    const dialog = await pause();
    const go = () => fireEvent.click(dialog.getByRole('button', { name: 'Pause' }));
    go();
    expect((await dialog.findByRole('alert')).textContent).toBe('Too many for one action.');
    go();
    await vi.waitFor(
      async () => {
        await vi.advanceTimersByTimeAsync(1000);
        dialog.getByText(/the action may have started/);
      },
      { timeout: 60_000 },
    );
    vi.useRealTimers();
    go();
    await dialog.findByText(/The server is working on this/);
    expect(handed()).toHaveLength(6);
    expect(new Set(handed().map((one) => one.key)).size).toBe(1);
  });
});

describe('the list of actions', () => {
  const list = (items: object[]) => {
    const asked: string[] = [];
    server.use(
      http.get(at('bulk'), ({ request }) => {
        asked.push(queryOf(request));
        return HttpResponse.json({ items, next_page_token: null });
      }),
    );
    return asked;
  };

  it('the list of bulk actions shows kind, progress and reason', async () => {
    list([running, ended]);
    show('/bulk', BulkListPage, '/bulk');
    const row = (await screen.findByRole('link', { name: 'Pause 1,200 jobs' })).closest('tr')!;
    expect(row.textContent).toContain('moving');
    expect(row.textContent).toContain('300 done, 2 failed, 898 of 1,200 remaining');
    expect(within(row).getByRole<HTMLProgressElement>('progressbar').value).toBe(302);
    expect(screen.getByRole('link', { name: 'Retry 60 runs' }).closest('tr')!.textContent).toContain(
      '60 in total: 60 done, 0 failed, 0 skipped',
    );
  });
  it('the list of bulk actions filters by its address', async () => {
    const asked = list([running]);
    const router = show('/bulk', BulkListPage, '/bulk?state=RUNNING');
    await screen.findByRole('link', { name: 'Pause 1,200 jobs' });
    expect(asked[0]).toContain('state=RUNNING');
    fireEvent.click(screen.getByRole('checkbox', { name: 'Only mine' }));
    await waitFor(() => expect(asked.at(-1)).toContain('user_id=user-1'));
    expect(router.state.location.searchStr).toBe('?state=RUNNING&user_id=user-1');
  });
  it('the list of bulk actions distinguishes empty, no match and a failed load', async () => {
    list([]);
    const router = show('/bulk', BulkListPage, '/bulk?state=STOPPED');
    fireEvent.click(await screen.findByRole('button', { name: 'Clear filters' }));
    await screen.findByText('No bulk actions yet');
    expect(router.state.location.searchStr).toBe('');
    server.use(http.get(at('bulk'), () => problem(400, 'invalid', 'No such state.')));
    await queryClient.resetQueries({ queryKey: ['bulk'] });
    await screen.findByText('No such state.');
  });
});

describe('one action', () => {
  const item = (position: number, result: string, more: object = {}) => ({
    position,
    id: 'job-' + position,
    result,
    run_id: null,
    error: null,
    ...more,
  });
  function answer(bulk: object) {
    const asked: string[] = [];
    const names: string[] = [];
    const now = { bulk };
    server.use(
      http.get(at('bulk/blk-1'), () => HttpResponse.json(now.bulk)),
      http.get(at('bulk/blk-1/items'), ({ request }) => {
        asked.push(queryOf(request));
        const all = [
          item(0, 'done'),
          item(1, 'error', { error: { status: 403, code: 'not_owner', detail: 'It belongs to bob.' } }),
          item(2, 'pending'),
        ];
        const wanted = new URL(request.url).searchParams.get('result');
        return HttpResponse.json({
          items: all.filter((one) => !wanted || one.result === wanted),
          next_page_token: null,
        });
      }),
      http.get(at('jobs/:id'), ({ params }) => {
        names.push(String(params.id));
        return HttpResponse.json({ name: 'Name of ' + String(params.id) });
      }),
    );
    return { asked, names, now };
  }
  const page = (search = '') => show('/bulk/$id', BulkPage, '/bulk/blk-1' + search);

  it('the page of a bulk action shows progress and filters items by outcome', async () => {
    const { asked } = answer(running);
    const router = page();
    await screen.findByRole('heading', { level: 1, name: /Pause 1,200 jobs/ });
    const failed = (await screen.findByRole('link', { name: 'Name of job-1' })).closest('tr')!;
    expect(failed.textContent).toContain('It belongs to bob.');
    fireEvent.click(screen.getByRole('button', { name: 'Failed (2)' }));
    await waitFor(() => expect(screen.queryByRole('link', { name: 'Name of job-0' })).toBeNull());
    expect(asked.at(-1)).toContain('result=error');
    expect(router.state.location.searchStr).toBe('?result=error');
  });

  it('the page of a bulk action opens with the outcome in its address', async () => {
    const { asked } = answer(running);
    page('?result=error');
    await screen.findByRole('link', { name: 'Name of job-1' });
    expect(asked[0]).toContain('result=error');
    expect(screen.getByRole('button', { name: 'Failed (2)' }).getAttribute('aria-pressed')).toBe('true');
    fireEvent.click(screen.getByRole('button', { name: /^Skipped/ }));
    await screen.findByText('No matches');
  });

  it('the page of a bulk action rereads its items after a change, but not their names', async () => {
    const { now, names } = answer(running);
    page();
    await screen.findByText('300 done, 2 failed, 898 of 1,200 remaining');
    await screen.findByRole('link', { name: 'Name of job-0' });
    const asked = names.length;
    now.bulk = { ...running, state: 'DONE', done: 1198, end_time: '2026-03-01T02:02:00Z' };
    const stream = new ChangeStream(queryClient);
    stream.take([
      {
        name: 'change',
        id: '',
        data: JSON.stringify({ changes: [{ topic: 'bulk', id: 'blk-1' }, { topic: 'jobs' }] }),
      },
    ]);
    await screen.findAllByText('1,200 in total: 1,198 done, 2 failed, 0 skipped');
    stream.stop();
    expect(names).toHaveLength(asked); // after the change the page did not request the names again
    expect(screen.queryByRole('button', { name: 'Cancel the rest' })).toBeNull();
  });

  it('the page of a bulk action cancels the rest after a confirmation', async () => {
    answer(running);
    let cancelled = 0;
    server.use(
      http.post(at('bulk/blk-1/cancel'), () => {
        cancelled += 1;
        return HttpResponse.json({ ...running, state: 'CANCELLED', skipped: 898 }, { status: 202 });
      }),
    );
    page();
    fireEvent.click(await screen.findByRole('button', { name: 'Cancel the rest' }));
    const dialog = within(await screen.findByRole('dialog'));
    dialog.getByText(/^898 items have not been processed/);
    expect(cancelled).toBe(0);
    fireEvent.click(dialog.getByRole('button', { name: 'Cancel the rest' }));
    await screen.findAllByText('1,200 in total: 300 done, 2 failed, 898 skipped');
    expect(cancelled).toBe(1);
  });

  it('the page of another user’s bulk action disables its actions with the reason', async () => {
    answer({ ...running, allowed_actions: [] });
    page();
    const button = await screen.findByRole<HTMLButtonElement>('button', { name: 'Cancel the rest' });
    expect([button.disabled, button.title]).toEqual([true, 'Owned by another user and not shared with you.']);
  });

  it('the page of a stopped bulk action shows the reason in English', async () => {
    answer({ ...running, state: 'STOPPED', error: 'The user was disabled.', skipped: 898 });
    page();
    expect((await screen.findByText('The user was disabled.')).getAttribute('lang')).toBe('en');
  });
});

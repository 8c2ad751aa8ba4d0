import { QueryClientProvider } from '@tanstack/react-query';
import {
  RouterProvider,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
} from '@tanstack/react-router';
import { act, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { ChangeStream } from '../../../api/changes';
import type { ServerEvent } from '../../../api/events';
import { queryClient } from '../../../api/queries';
import type { Run } from '../../../api/types';
import { parseSearch, stringifySearch } from '../../../lib/search_params';
import { RunPage } from './run_page';
import { HttpResponse, at, http, problem, server } from '../../../../test_support/server';
import '../../../ui/dialogs/modal_dialog';

const failed = {
  run_id: 'r1',
  job_id: 'backup',
  job_name: 'Backup',
  kind: 'cron',
  fire_time: '2026-03-01T02:00:00Z',
  state: 'FAILED',
  reason: 'exit_code',
  attempt: 1,
  executor_id: null,
  planned_at: null,
  claimed_at: null,
  started_at: null,
  ended_at: '2026-03-01T02:00:03Z',
  exit_code: 3,
  error: null,
  priority: 5,
  job_version: 1,
  cancel_requested: false,
} as Run;

const SLOW_MS = 60_000; // ms; the first test of a file also loads the page's parts
const CHANGED = [
  { name: 'change', id: '1', data: JSON.stringify({ changes: [{ topic: 'runs' }] }) },
] as unknown as ServerEvent[];

function showRun(id: string) {
  const root = createRootRoute();
  const here = createRoute({ getParentRoute: () => root, path: '/runs/$id', component: RunPage });
  const router = createRouter({
    routeTree: root.addChildren([here]),
    parseSearch,
    stringifySearch,
    history: createMemoryHistory({ initialEntries: ['/runs/' + id] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
}

describe('an ID that cannot be a run', () => {
  it('an invalid run ID is requested once and reported at once', async () => {
    queryClient.clear();
    let asked = 0;
    server.use(
      http.get(at('runs/:id'), () => {
        asked += 1;
        return problem(400, 'invalid', 'This is not the ID of a run.');
      }),
    );
    showRun('nosuch');
    await screen.findByRole('button', { name: 'Try again' }, { timeout: SLOW_MS });
    await new Promise((resolve) => setTimeout(resolve, 2000));
    await act(() => new ChangeStream(queryClient).take(CHANGED));
    expect(asked).toBe(1);
    expect(screen.queryByText('Loading…')).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await waitFor(() => expect(asked).toBe(2));
  });
});

const MAY_RUN = () =>
  problem(409, 'conflict', 'Its process may still run.', {
    errors: [{ pointer: '/confirm_overlap', code: 'conflict', detail: 'Its process may still run.' }],
  });

describe('a retry', () => {
  let now: Run;
  let keys: (string | null)[];
  let answers: (() => Response)[];
  beforeEach(() => {
    queryClient.clear();
    now = failed;
    keys = [];
    answers = [];
    server.use(
      http.get(at('runs/r1'), () => HttpResponse.json(now)),
      http.get(at('runs/r1/logs'), () => new HttpResponse('')),
      http.get(at('runs/r1/logs/stream'), () => new HttpResponse('')),
      http.post(at('runs/r1/retry'), ({ request }) => {
        keys.push(request.headers.get('Idempotency-Key'));
        return (
          answers.shift()?.() ??
          HttpResponse.json({ ...failed, state: 'PENDING', attempt: 2 }, { status: 202 })
        );
      }),
    );
  });

  async function open() {
    showRun('r1');
    await screen.findByRole('button', { name: 'Retry' });
  }
  const click = async (times: number) => {
    await waitFor(() =>
      expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Retry' }).disabled).toBe(false),
    );
    fireEvent.click(screen.getByRole('button', { name: 'Retry' }));
    await waitFor(() => expect(keys.length).toBe(times));
  };

  it('a retry repeated before the page has moved on uses the same key', async () => {
    await open();
    await click(1);
    await click(2);
    expect(keys[0]).toBeTruthy();
    expect(keys[1]).toBe(keys[0]);
  });

  it('a retry of the next attempt uses another key', async () => {
    await open();
    await click(1);
    now = { ...failed, attempt: 2, exit_code: 4 };
    await act(() => queryClient.invalidateQueries({ queryKey: ['runs'] }));
    await screen.findByText('4');
    await click(2);
    expect(keys[1]).not.toBe(keys[0]);
  });

  it('a retry without an answer repeats its key, and uses another one after a refusal', async () => {
    answers = [() => HttpResponse.error(), MAY_RUN];
    await open();
    await click(1);
    await click(2);
    expect(keys[1]).toBe(keys[0]);
    fireEvent.click(await screen.findByRole('button', { name: 'Continue anyway' }));
    await waitFor(() => expect(keys.length).toBe(3));
    expect(keys[2]).not.toBe(keys[1]);
  });

  it('a retry that confirming does not permit asks nothing', async () => {
    answers = [() => problem(409, 'conflict', 'It is running.'), MAY_RUN];
    await open();
    await click(1);
    await click(2);
    // The first answer has come before the second request.
    await screen.findByRole('button', { name: 'Continue anyway' });
    expect(keys[1]).not.toBe(keys[0]);
    fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
    answers = [() => problem(409, 'conflict', 'It is running.')];
    await click(3);
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Continue anyway' })).toBeNull());
  });

  it('a retry of an attempt that failed again uses another key', async () => {
    await open();
    await click(1);
    now = { ...failed, state: 'RUNNING' };
    await act(() => queryClient.invalidateQueries({ queryKey: ['runs'] }));
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Retry' })).toBeNull());
    now = failed;
    await act(() => queryClient.invalidateQueries({ queryKey: ['runs'] }));
    await click(2);
    expect(keys[1]).not.toBe(keys[0]);
  });

  it('a retry is offered when the state permits it; “run again” in any state', async () => {
    const enabled = (name: string) => !screen.getByRole<HTMLButtonElement>('button', { name }).disabled;
    const become = (changes: Partial<Run>) => {
      now = { ...failed, ...changes };
      return act(() => queryClient.invalidateQueries({ queryKey: ['runs'] }));
    };
    now = { ...failed, allowed_actions: ['execute', 'retry'] };
    await open();
    expect([enabled('Retry'), enabled('Run again…')]).toEqual([true, true]);
    await become({ state: 'COMPLETED', allowed_actions: ['execute'] });
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Retry' })).toBeNull());
    expect(enabled('Run again…')).toBe(true);
    // Of another user: the buttons say why they are disabled.
    await become({ allowed_actions: [] });
    await screen.findByRole('button', { name: 'Retry' });
    expect([enabled('Retry'), enabled('Run again…')]).toEqual([false, false]);
    // A node of a nested workflow: only the outermost run is retried.
    await become({ allowed_actions: ['execute'] });
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Retry' })).toBeNull());
    expect(enabled('Run again…')).toBe(true);
  });
});

describe('a function that hangs', () => {
  it('a run is given up only after a cancel, and a question says what may follow', async () => {
    queryClient.clear();
    const running: Run = {
      ...failed,
      state: 'RUNNING',
      job_type: 'handler',
      reason: null,
      ended_at: null,
      exit_code: null,
      allowed_actions: ['cancel', 'execute'],
    };
    let now = running;
    const sent: unknown[] = [];
    server.use(
      http.get(at('runs/r1'), () => HttpResponse.json(now)),
      http.get(at('runs/r1/logs'), () => new HttpResponse('')),
      http.get(at('runs/r1/logs/stream'), () => new HttpResponse('')),
      http.post(at('runs/r1/cancel'), async ({ request }) => {
        sent.push(await request.json());
        return HttpResponse.json({ cancelled: 1 }, { status: 202 });
      }),
    );
    showRun('r1');
    await screen.findByRole('button', { name: 'Cancel run' });
    expect(screen.queryByRole('button', { name: 'Give up…' })).toBeNull();
    now = {
      ...running,
      cancel_requested: true,
      cancel_mode: 'graceful',
      allowed_actions: ['cancel', 'execute', 'give_up'],
    };
    await act(() => queryClient.invalidateQueries({ queryKey: ['runs'] }));
    fireEvent.click(await screen.findByRole('button', { name: 'Give up…' }));
    await screen.findByText(/may go on, so two may run at the same time/);
    // A function has no process of its own that could be killed.
    expect(screen.queryByRole('button', { name: 'Kill now' })).toBeNull();
    screen.getByText(/ends when its function returns/);
    const dialog = await screen.findByRole('dialog');
    fireEvent.click(within(dialog).getByRole('button', { name: 'Give up' }));
    await waitFor(() => expect(sent).toEqual([{ give_up: true, confirm_overlap: true }]));
  });

  it('a held run says when its function is taken for dead', async () => {
    queryClient.clear();
    const waiting = { code: 'host', detail: 'It is taken for dead at 2026-03-01 03:00:03 UTC.' };
    server.use(
      http.get(at('runs/r1'), () => HttpResponse.json({ ...failed, state: 'HELD', waiting })),
      http.get(at('runs/r1/logs'), () => new HttpResponse('')),
      http.get(at('runs/r1/logs/stream'), () => new HttpResponse('')),
    );
    showRun('r1');
    await screen.findByText(/It is taken for dead at/);
  });
});

describe('a run that fans out', () => {
  it('the page of the run shows its shards, which are retried instead of the run', async () => {
    queryClient.clear();
    const part = {
      index: 1,
      run_id: 'p1',
      state: 'FAILED',
      reason: 'exit_code',
      attempt: 1,
      executor_id: 'x',
    };
    server.use(
      http.get(at('runs/r2'), () =>
        HttpResponse.json({ ...failed, run_id: 'r2', shard_total: 2, shards: { FAILED: 1, COMPLETED: 1 } }),
      ),
      http.get(at('runs/r2/shards'), () =>
        HttpResponse.json({
          run_id: 'r2',
          job_id: 'backup',
          state: 'FAILED',
          shard_total: 2,
          shards: [part],
        }),
      ),
    );
    showRun('r2');
    await screen.findByRole('button', { name: 'Retry the failed shards' }, { timeout: SLOW_MS });
    expect(screen.queryByRole('button', { name: 'Retry' })).toBeNull();
  });

  it('a node that fans out is retried as a whole, by its workflow', async () => {
    queryClient.clear();
    let sent: unknown;
    server.use(
      http.get(at('runs/r3'), () =>
        HttpResponse.json({
          ...failed,
          run_id: 'r3',
          workflow_run_id: 'w1',
          node: 'load',
          shard_total: 2,
          shards: { FAILED: 2 },
        }),
      ),
      http.get(at('runs/r3/shards'), () =>
        HttpResponse.json({ run_id: 'r3', job_id: 'backup', state: 'FAILED', shard_total: 2, shards: [] }),
      ),
      http.post(at('runs/r3/retry'), async ({ request }) => {
        sent = await request.json();
        return HttpResponse.json({ ...failed, run_id: 'r3', state: 'PENDING' }, { status: 202 });
      }),
    );
    showRun('r3');
    fireEvent.click(await screen.findByRole('button', { name: 'Retry' }, { timeout: SLOW_MS }));
    await waitFor(() => expect(sent).toEqual({}));
  });

  it('the page of a shard leads to the run of all', async () => {
    queryClient.clear();
    server.use(
      http.get(at('runs/p1'), () =>
        HttpResponse.json({
          ...failed,
          run_id: 'p1',
          kind: 'shard',
          shard_index: 1,
          shard_total: 2,
          fan_out_run_id: 'r2',
        }),
      ),
      http.get(at('runs/p1/logs/stream'), () => HttpResponse.text('')),
    );
    showRun('p1');
    const link = await screen.findByRole(
      'link',
      { name: 'Run of all shards; this is shard 1 of 2' },
      { timeout: SLOW_MS },
    );
    expect(link.getAttribute('href')).toBe('/runs/r2');
  });
});

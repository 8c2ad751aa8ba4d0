import '../../../test_support/texts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { queryClient } from '../../api/queries';
import type { RunShard } from '../../api/shards';
import type { Run } from '../../api/types';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';
import ShardsCard from './shards_card';
import ToastList from '../../ui/toast_list';
import { anyFailed, countsOf, moved, tookMs } from './shard_values';
import '../../ui/dialogs/modal_dialog';
import '../../ui/dialogs/confirm_dialog';

const shard = (index: number, state: string, more: Partial<RunShard> = {}) =>
  ({
    index,
    run_id: 'part-' + index,
    state,
    reason: null,
    attempt: 1,
    executor_id: 'x' + index,
    due_at: '2026-03-01T02:00:00Z',
    claimed_at: '2026-03-01T02:00:00Z',
    started_at: '2026-03-01T02:00:00Z',
    ended_at: '2026-03-01T02:00:03Z',
    ...more,
  }) as RunShard;
const PARTS = [
  shard(0, 'COMPLETED'),
  shard(1, 'FAILED', { reason: 'exit_code', attempt: 2 }),
  shard(2, 'COMPLETED'),
  shard(3, 'SKIPPED', { reason: 'host_down', executor_id: null, started_at: null, ended_at: null }),
  shard(4, 'COMPLETED'),
];
const run = {
  run_id: 'r1',
  job_id: 'a',
  state: 'FAILED',
  attempt: 1,
  shard_total: 5,
  shards: { COMPLETED: 3, FAILED: 1, SKIPPED: 1 },
  allowed_actions: ['retry'],
} as unknown as Run;

function show(parts: readonly RunShard[], shown = run) {
  server.use(
    http.get(at('runs/r1/shards'), () =>
      HttpResponse.json({
        run_id: 'r1',
        job_id: 'a',
        state: shown.state,
        shard_total: parts.length,
        shards: parts,
      }),
    ),
  );
  const router = createRouter({
    routeTree: createRootRoute({ component: () => <ShardsCard run={shown} /> }),
    history: createMemoryHistory(),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
      <ToastList />
    </QueryClientProvider>,
  );
}
const cells = async () =>
  within(await screen.findByRole('list', { name: /Shards by state/ })).getAllByRole('link');
const names = async () => (await cells()).map((cell) => cell.getAttribute('aria-label'));
const rows = () =>
  within(screen.getByRole('region', { name: 'Table of shards' }))
    .getAllByRole('row')
    .slice(1)
    .map((row) =>
      within(row)
        .getAllByRole('cell')
        .map((cell) => cell.textContent),
    );
const MAY_RUN = { errors: [{ pointer: '/confirm_overlap', code: 'conflict', detail: 'It may still run.' }] };
beforeEach(() => queryClient.clear());
afterEach(() => vi.restoreAllMocks());

describe('the shards of a run', () => {
  it('each shard is a cell with its state in words, and a row of the table', async () => {
    show(PARTS);
    expect(await names()).toEqual([
      'Shard 0: Completed, x0',
      'Shard 1: Failed, x1',
      'Shard 2: Completed, x2',
      'Shard 3: Skipped',
      'Shard 4: Completed, x4',
    ]);
    expect((await cells())[1]!.getAttribute('href')).toBe('/runs/part-1');
    expect(rows()[1]!.filter((_, column) => column !== 4)).toEqual([
      '1',
      'Failed',
      'x1',
      '2',
      '3 s',
      'Exit code',
    ]);
    expect(rows()[3]!.slice(4)).toEqual(['–', '–', 'Its host was not available']);
  });

  it('a filter by state shows the cells and rows of this state only', async () => {
    show(PARTS);
    fireEvent.click(await screen.findByRole('button', { name: 'Failed 1' }));
    expect(await names()).toEqual(['Shard 1: Failed, x1']);
    expect(rows()).toHaveLength(1);
    fireEvent.click(screen.getByRole('button', { name: 'All 5' }));
    expect(await names()).toHaveLength(5);
  });

  it('arrow keys move among the cells, of which Tab reaches one', async () => {
    // Two rows: three cells and two.
    vi.spyOn(HTMLElement.prototype, 'offsetTop', 'get').mockImplementation(function (this: HTMLElement) {
      return Number(/\d+/.exec(this.getAttribute('aria-label') ?? '')?.[0] ?? 0) < 3 ? 0 : 28;
    });
    show(PARTS);
    const all = await cells();
    const stops = () => all.filter((cell) => cell.tabIndex === 0).map((cell) => all.indexOf(cell));
    expect(stops()).toEqual([0]);
    all[0]!.focus();
    const press = (key: string) => {
      fireEvent.keyDown(document.activeElement!, { key });
      return all.indexOf(document.activeElement as HTMLElement);
    };
    expect(
      ['ArrowRight', 'ArrowDown', 'ArrowDown', 'ArrowUp', 'End', 'ArrowLeft', 'Home'].map(press),
    ).toEqual([1, 4, 4, 1, 4, 3, 0]);
    press('End');
    await waitFor(() => expect(stops()).toEqual([4]));
  });

  it('a table of many shards shows the first, and all on request', async () => {
    show(Array.from({ length: 60 }, (_, i) => shard(i, 'COMPLETED')));
    const more = await screen.findByRole('button', { name: 'Show all 60 shards' });
    expect(rows()).toHaveLength(20);
    fireEvent.click(more);
    expect(rows()).toHaveLength(60);
  });

  it('numbers of a thousand shards are written as everywhere', async () => {
    show(Array.from({ length: 1000 }, (_, i) => shard(i, 'COMPLETED')));
    await screen.findByText('All 1,000');
    screen.getByText('Completed 1,000');
    screen.getByText('Show all 1,000 shards');
  });

  it('the failed shards are retried, and asked about if their processes may still run', async () => {
    const asked: unknown[] = [];
    server.use(
      http.post(at('runs/r1/retry'), async ({ request }) => {
        const body = (await request.json()) as { confirm_overlap?: boolean };
        asked.push(body);
        return body.confirm_overlap
          ? HttpResponse.json({ ...run, state: 'RUNNING' }, { status: 202 })
          : problem(409, 'conflict', 'The process of shard 1 may still run.', MAY_RUN);
      }),
    );
    show(PARTS);
    fireEvent.click(await screen.findByRole('button', { name: 'Retry the failed shards' }));
    fireEvent.click(await screen.findByRole('button', { name: 'Continue anyway' }));
    await waitFor(() =>
      expect(asked).toEqual([{ shards: 'failed' }, { shards: 'failed', confirm_overlap: true }]),
    );
  });

  it('a retry that confirming does not permit is shown as an error', async () => {
    for (const code of ['conflict', 'overlap']) {
      server.use(http.post(at('runs/r1/retry'), () => problem(409, code, `No retry: ${code}.`)));
      show(PARTS);
      fireEvent.click(await screen.findByRole('button', { name: 'Retry the failed shards' }));
      await screen.findAllByText(new RegExp(`No retry: ${code}`));
      expect(screen.queryByRole('button', { name: 'Continue anyway' })).toBeNull();
      cleanup();
    }
  });

  it('a retry of all shards is sent after a question', async () => {
    const asked: unknown[] = [];
    server.use(
      http.post(at('runs/r1/retry'), async ({ request }) => {
        asked.push(await request.json());
        return HttpResponse.json({ ...run, state: 'RUNNING' }, { status: 202 });
      }),
    );
    show(PARTS);
    fireEvent.click(await screen.findByRole('button', { name: 'Retry all shards' }));
    const dialog = await screen.findByRole('dialog', { name: 'Retry all 5 shards?' });
    expect(asked).toEqual([]);
    fireEvent.click(within(dialog).getByRole('button', { name: 'Retry all shards' }));
    await waitFor(() => expect(asked).toEqual([{ shards: 'all' }]));
  });

  it('shards of a node are not retried by themselves, which the server refuses', async () => {
    show(PARTS, { ...run, workflow_run_id: 'w1' });
    await cells();
    expect(screen.queryByRole('button', { name: /Retry/ })).toBeNull();
  });

  it('no retry is offered if no shard has failed', async () => {
    show([shard(0, 'COMPLETED'), shard(1, 'RUNNING', { ended_at: null })], { ...run, state: 'RUNNING' });
    await cells();
    expect(screen.queryByRole('button', { name: /Retry/ })).toBeNull();
  });

  it('the card says why the shards cannot be shown', async () => {
    server.use(http.get(at('runs/r2/shards'), () => problem(422, 'no_shards', 'Run r2 has no parts.')));
    const router = createRouter({
      routeTree: createRootRoute({ component: () => <ShardsCard run={{ ...run, run_id: 'r2' }} /> }),
      history: createMemoryHistory(),
    });
    render(
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>,
    );
    await screen.findByText('Run r2 has no parts.');
  });
});

describe('values of shards', () => {
  it('a part whose host was down at its first attempt has not failed', () => {
    expect(anyFailed([PARTS[0]!, PARTS[3]!])).toBe(false);
    expect(anyFailed([{ ...PARTS[3]!, attempt: 2 }])).toBe(true);
    expect(anyFailed([{ ...PARTS[3]!, attempt: 2, reason: 'no_executor' }])).toBe(false);
    expect(anyFailed([PARTS[1]!])).toBe(true);
  });

  it('counts have the usual order of states, and states of newer servers at the end', () => {
    expect(countsOf([shard(0, 'NEW'), ...PARTS])).toEqual([
      ['COMPLETED', 3],
      ['FAILED', 1],
      ['SKIPPED', 1],
      ['NEW', 1],
    ]);
  });

  it('keys stop at the edges', () => {
    expect(moved('ArrowUp', 2, 3, 5)).toBe(2);
    expect(moved('ArrowRight', 4, 3, 5)).toBe(4);
    expect(moved('Enter', 1, 3, 5)).toBeUndefined();
  });

  it('the time of a running shard counts until now', () => {
    const running = shard(0, 'RUNNING', { ended_at: null });
    expect(tookMs(running, Date.parse('2026-03-01T02:00:09Z'))).toBe(9000);
    expect(tookMs(PARTS[3]!, 0)).toBeNull();
  });
});

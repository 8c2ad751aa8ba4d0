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
import { queryClient } from '../../../api/queries';
import type { Job } from '../../../api/types';
import FailurePause from './failure_pause';
import { countOf, isPause } from './failure_pause_values';
import { HttpResponse, at, http, problem, server } from '../../../../test_support/server';

// Its limit was 3 when it was paused, and has been changed since.
const job = {
  job_id: 'backup',
  name: 'Backup',
  state: 'PAUSED',
  paused_by: 'failures',
  pause_reason: '3 runs in a row have failed (pause_after_failures)',
  pause_after_failures: 50,
  version: 9,
  schedules: [],
  time_zone: 'UTC',
  allowed_actions: ['resume'],
} as unknown as Job;
const version = (n: number, actor: string, after: unknown = false) => ({
  version: n,
  actor,
  create_time: `2026-03-01T02:1${n}:00Z`,
  readable: true,
  changes: [{ field: 'enabled', before: !after, after }],
});
const VERSIONS = [
  { ...version(9, 'ann'), changes: [{ field: 'pause_after_failures', before: 3, after: 50 }] },
  version(8, 'system'),
  version(7, 'ann', true),
];
const run = (n: number, state: string, reason: string, more: object = {}) => ({
  run_id: 'r' + n,
  job_id: 'backup',
  kind: 'cron',
  job_version: 7,
  state,
  reason,
  fire_time: `2026-03-01T02:0${n}:00Z`,
  ...more,
});
const RUNS = [
  run(9, 'FAILED', 'exit_code', { job_version: 8 }),
  run(8, 'FAILED', 'exit_code', { kind: 'manual' }),
  run(7, 'FAILED', 'exit_code', { kind: 'backfill' }),
  run(6, 'FAILED', 'spawn'),
  run(5, 'TIMED_OUT', 'timeout'),
  run(4, 'FAILED', 'exit_code'),
  run(3, 'FAILED', 'exit_code'),
  run(2, 'FAILED', 'exit_code'),
  run(1, 'FAILED', 'exit_code', { job_version: 6 }),
];
const page = (items: unknown[]) => HttpResponse.json({ items, next_page_token: null });
const answer = (runs: () => Response | Promise<Response>, versions = () => page(VERSIONS)) =>
  server.use(http.get(at('runs'), runs), http.get(at('jobs/backup/versions'), versions));
const show = (shown: Job) => {
  const root = createRootRoute();
  const here = createRoute({
    getParentRoute: () => root,
    path: '/',
    component: () => <FailurePause job={shown} />,
  });
  const router = createRouter({ routeTree: root.addChildren([here]), history: createMemoryHistory() });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
};
const listed = async () =>
  within(await screen.findByRole('list', { name: 'Runs that failed' }))
    .getAllByRole('link')
    .map((link) => link.getAttribute('href'));
beforeEach(() => queryClient.clear());

describe('the banner of a job that its failures have paused', () => {
  it('the banner says how many runs failed when it was paused, and which counted', async () => {
    let asked = new URLSearchParams();
    server.use(
      http.get(at('jobs/backup/versions'), () => page(VERSIONS)),
      http.get(at('runs'), ({ request }) => {
        asked = new URL(request.url).searchParams;
        return page(RUNS);
      }),
    );
    show(job);
    const told = await screen.findByText(/^Paused: 3 runs in a row have failed\. It starts nothing/);
    expect(await listed()).toEqual(['/runs/r5', '/runs/r4', '/runs/r3']);
    expect(within(told).getByRole('time').getAttribute('datetime')).toBe('2026-03-01T02:18:00Z');
    expect(asked.getAll('state')).toEqual(['FAILED', 'TIMED_OUT']);
    expect(asked.getAll('kind')).toEqual(['cron', 'rate', 'once', 'delay', 'after', 'event']);
    expect(asked.get('until')).toBe('2026-03-01T02:18:00Z');
  });

  it('the banner resumes the job', async () => {
    let resumed = 0;
    answer(() => page(RUNS));
    server.use(
      http.post(at('jobs/backup/resume'), () => {
        ++resumed;
        return HttpResponse.json({ ...job, state: 'ENABLED' });
      }),
    );
    show(job);
    fireEvent.click(await screen.findByRole('button', { name: 'Resume' }));
    await waitFor(() => expect(resumed).toBe(1));
  });

  it('the banner shows that it loads, and why it could not, and tries again', async () => {
    let runs: () => Response = () => problem(503, 'unavailable', 'The database is away.');
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    queryClient.setDefaultOptions({ queries: { ...queryClient.getDefaultOptions().queries, retry: false } });
    answer(async () => {
      await held;
      return runs();
    });
    show(job);
    await screen.findByText('Loading…');
    release();
    await screen.findByText(/The runs that failed could not be loaded\./);
    expect(screen.queryByText('Loading…')).toBeNull();
    runs = () => page(RUNS);
    fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await listed()).toHaveLength(3);
  });

  it('the banner shows that the versions could not be loaded', async () => {
    answer(
      () => page(RUNS),
      () => problem(403, 'denied', 'Not for you.'),
    );
    show(job);
    await screen.findByText(/The runs that failed could not be loaded\./);
    expect(screen.queryByRole('list')).toBeNull();
  });

  it('the banner shows five runs and leads to the others, or to all if some are gone', async () => {
    answer(() => page([1, 2, 3, 4, 5, 6, 7, 8].map((n) => run(n, 'FAILED', 'exit_code'))));
    show({ ...job, pause_reason: '7 runs in a row have failed (pause_after_failures)' } as Job);
    expect(await listed()).toHaveLength(5);
    const more = screen.getByRole('link', { name: 'and 2 more' }).getAttribute('href');
    expect(more).toMatch(/^\/jobs\/backup\?tab=runs&state=/);
  });

  it('the banner leads to the failed runs if those that counted are no longer stored', async () => {
    answer(() => page([]));
    show(job);
    await screen.findByRole('link', { name: 'All runs that failed' });
  });

  it('the banner says a reason that it does not know as it is', async () => {
    answer(() => page([]));
    show({ ...job, pause_reason: 'Too many failures' } as Job);
    await screen.findByText(/^Paused: Too many failures/);
  });
});

describe('values of a pause', () => {
  it('the number of failures is in the reason', () => {
    expect(countOf('a run has failed (pause_after_failures)')).toBe(1);
    expect(countOf('12 runs in a row have failed (pause_after_failures)')).toBe(12);
    expect(countOf('stopped for 3 runs')).toBeNull();
    expect(countOf(null)).toBeNull();
  });

  it('a pause by failures is a change of enabled that the scheduler has made', () => {
    expect(VERSIONS.map((one) => isPause(one))).toEqual([false, true, false]);
    expect(isPause({ ...version(3, 'system'), changes: null })).toBe(false);
  });
});

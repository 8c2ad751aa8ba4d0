import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { queryClient } from '../../api/queries';
import type { FireLoad, Gap, Run, SystemStatus } from '../../api/types';
import { parseSearch, stringifySearch } from '../../lib/search_params';
import Attention from '../system/attention';
import NextFires from './next_fires';
import { againIn } from './next_values';
import { firesIn, successOf } from './tile_values';
import { Tiles } from './tiles';
import '../../ui/dialogs/modal_dialog';
import { HttpResponse, at, http, server } from '../../../test_support/server';
import { dayBefore } from '../../lib/day_before';

const runs = (...states: string[]) => states.map((state) => ({ state }) as Run);

describe('the share of success', () => {
  it('the success share counts ended runs, rounded down, and says when there are more', () => {
    expect(
      successOf({
        items: [...runs(...Array.from({ length: 199 }, () => 'COMPLETED')), ...runs('LOST')],
        next_page_token: null,
      }),
    ).toEqual({ share: 0.99, n: 200, bounded: false });
    expect(successOf({ items: runs('COMPLETED'), next_page_token: 'x' })).toEqual({
      share: 1,
      n: 1,
      bounded: true,
    });
  });
  it('the success share is unknown when nothing ended', () =>
    expect(successOf(undefined)).toEqual({ share: null, n: 0, bounded: false }));
});

describe('missed fires', () => {
  it('the missed-fires query covers a day and changes once a minute', () => {
    expect(dayBefore(Date.parse('2026-03-02T12:00:00.001Z'))).toBe('2026-03-01T12:00:00.000Z');
    expect(dayBefore(Date.parse('2026-03-02T12:00:59.999Z'))).toBe('2026-03-01T12:00:00.000Z');
  });
  it('the missed-fires count adds the fires of all gaps', () => {
    const gap = (count: number) =>
      ({ job_id: 'a', schedule_id: 1, from: '', to: '', reason: 'misfire', count }) as Gap;
    expect(firesIn([gap(3), gap(4)])).toBe(7);
    expect(firesIn([])).toBe(0);
  });
  it('the missed-fires tile leaves out deliberate reasons and links to the list', async () => {
    let asked: URLSearchParams | undefined;
    server.use(
      http.get(at('gaps'), ({ request }) => {
        asked = new URL(request.url).searchParams;
        return HttpResponse.json({
          items: [
            {
              job_id: 'a',
              schedule_id: 1,
              from: '2026-03-02T10:00:00Z',
              to: '2026-03-02T10:00:00Z',
              reason: 'misfire',
              count: 3,
            },
          ],
          next_page_token: 'more',
        });
      }),
      http.get(at('runs'), () => HttpResponse.json({ items: [], next_page_token: null })),
    );
    const root = createRootRoute({
      component: () => (
        <Tiles
          status={
            { executors: {}, late_ms: { p50: 1, p99: 7 }, runs_running: 0, runs_pending: 0 } as SystemStatus
          }
        />
      ),
    });
    const router = createRouter({
      routeTree: root,
      parseSearch,
      stringifySearch,
      history: createMemoryHistory(),
    });
    render(
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>,
    );
    const link = await screen.findByRole('link', { name: '3+ missed fires in the last 24 hours' });
    expect(asked!.getAll('reason')).toEqual(['misfire', 'catch_up_limit']);
    expect(new URL((link as HTMLAnchorElement).href).search).toBe(
      `?since=${encodeURIComponent(asked!.get('since')!)}&reason=misfire&reason=catch_up_limit`,
    );
    expect(
      (screen.getByRole('link', { name: 'Start delay p99 · missed fires' }) as HTMLAnchorElement).pathname,
    ).toBe('/system');
  });
});

describe('the next hour', () => {
  const load = (items: { first: string }[]) =>
    ({
      from: '',
      until: '',
      buckets: [],
      busiest: null,
      jobs: 15,
      jobs_read: 900,
      truncated: false,
      items: items.map(({ first }, i) => ({
        job_id: 'j' + i,
        name: 'Job ' + i,
        fires: i + 1,
        first_fire_time: first,
        buckets: [],
      })),
    }) as FireLoad;
  const now = Date.parse('2026-03-01T12:00:00Z');
  it('the next hour is read again right after its first fire, within bounds', () => {
    expect(againIn(undefined, now)).toBe(30_000);
    expect(againIn(load([]), now)).toBe(30_000);
    expect(againIn(load([{ first: '2026-03-01T12:00:10Z' }]), now)).toBe(10_500);
    expect(againIn(load([{ first: '2026-03-01T12:00:01Z' }]), now)).toBe(5000);
    expect(againIn(load([{ first: '2026-03-01T11:00:01Z' }]), now)).toBe(5000);
    expect(againIn(load([{ first: '2026-03-01T12:50:00Z' }]), now)).toBe(30_000);
  });
  it('the next hour lists jobs in the server’s order and counts the others', async () => {
    const asked: URL[] = [];
    server.use(
      http.get(at('schedules/load'), ({ request }) => {
        asked.push(new URL(request.url));
        return HttpResponse.json(load(Array.from({ length: 15 }, () => ({ first: '2026-03-01T12:00:10Z' }))));
      }),
    );
    const router = createRouter({
      routeTree: createRootRoute({ component: NextFires }),
      history: createMemoryHistory(),
    });
    render(
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>,
    );
    expect(
      (await screen.findAllByRole('link', { name: /^Job / })).map((one) => one.textContent).slice(0, 2),
    ).toEqual(['Job 0', 'Job 1']);
    expect(screen.getAllByRole('button', { name: /^Run Job \d+ now$/ }).length).toBe(12);
    expect(screen.getByText('2 fires in this hour')).toBeTruthy();
    expect(screen.getByText('and 3 more jobs')).toBeTruthy();
    const { searchParams } = asked[0]!;
    expect(Date.parse(searchParams.get('until')!) - Date.parse(searchParams.get('from')!)).toBe(3_600_000);
    expect(searchParams.get('by_job')).toBe('true');
  });
});

describe('a run of the next hour', () => {
  it('a run from the next hour asks for required parameters', async () => {
    const job = {
      job_id: 'a',
      name: 'Job a',
      parameters: {},
      parameter_rules: { day: { type: 'string', required: true } },
    };
    const runs: string[] = [];
    queryClient.clear();
    server.use(
      http.get(at('schedules/load'), () =>
        HttpResponse.json({
          buckets: [],
          jobs: 2,
          items: ['a', 'b'].map((id) => ({
            job_id: id,
            name: 'Job ' + id,
            fires: 1,
            first_fire_time: '2026-03-01T12:00:10Z',
            buckets: [],
          })),
        }),
      ),
      http.get(at('jobs/a'), () => HttpResponse.json(job)),
      http.get(at('jobs/b'), () => HttpResponse.json({ ...job, job_id: 'b', parameter_rules: {} })),
      http.get(at('executors'), () => HttpResponse.json({ items: [], next_page_token: null })),
      http.post(at('jobs/b/execute'), () => {
        runs.push('b');
        return HttpResponse.json({ run_id: 'r' }, { status: 202 });
      }),
    );
    const router = createRouter({
      routeTree: createRootRoute({ component: NextFires }),
      history: createMemoryHistory(),
    });
    render(
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>,
    );
    fireEvent.click(await screen.findByRole('button', { name: 'Run Job a now' }));
    const dialog = await screen.findByRole('dialog');
    expect(within(dialog).getByLabelText(/^day/)).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Run Job b now', hidden: true }));
    await waitFor(() => expect(runs).toEqual(['b']));
  });
});

describe('the attention card', () => {
  const failing = (n: number) =>
    Array.from({ length: n }, (_, i) => ({
      job_id: 'job-' + i,
      job_name: 'Job ' + i,
      failing_since: '2026-03-01T02:00:00Z',
      failures: i + 1,
      more_failures: false,
      last_run_id: 'r',
      last_state: 'FAILED',
      last_failure_time: '2026-03-01T03:00:00Z',
      last_success_time: i === 0 ? null : '2026-02-28T02:00:00Z',
      dead_letters: i + 1,
    }));
  function open(answers: {
    failing: object;
    held?: object;
    gaps?: object;
    unplanned?: object[];
    letters?: object;
  }) {
    const none = { items: [], next_page_token: null, total: 0 };
    queryClient.clear();
    server.use(
      http.get(at('runs'), () => HttpResponse.json(answers.held ?? none)),
      http.get(at('executors'), () => HttpResponse.json(none)),
      http.get(at('gaps'), () => HttpResponse.json(answers.gaps ?? none)),
      http.get(at('failing-jobs'), () => HttpResponse.json(answers.failing)),
    );
    const unplanned_jobs = answers.unplanned ?? null;
    const status = {
      leader: 'a',
      members: [],
      unplanned_jobs,
      unpublished_letters: answers.letters ?? null,
    } as unknown as SystemStatus;
    const root = createRootRoute({
      component: () => <Attention status={status} late={false} onKnown={() => undefined} />,
    });
    const router = createRouter({
      routeTree: root,
      parseSearch,
      stringifySearch,
      history: createMemoryHistory(),
    });
    render(
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>,
    );
  }

  it('the attention card has a row for each failing job and counts the others', async () => {
    open({ failing: { items: failing(6), next_page_token: 'x', total: 10 } });
    const first = (await screen.findByText(/^Job 0: the last run failed/)).closest('li')!;
    expect(first.textContent).toMatch(/Failing since .* · no success on record/);
    const second = screen.getByText(/^Job 1: the last 2 runs failed/).closest('li')!;
    expect(second.textContent).toMatch(/last success /);
    expect(within(second).getByRole('link').getAttribute('href')).toBe('/admin/dead-letters?job_id=job-1');
    const more = screen.getByText('4 more failing jobs').closest('li')!;
    expect(within(more).getByRole('link').getAttribute('href')).toBe('/admin/dead-letters');
  });

  it('the attention card is empty once no job fails', async () => {
    open({ failing: { items: [], next_page_token: null, total: 0 } });
    await screen.findByText('Nothing needs attention');
  });

  it('the attention card says that dead letters are not published', async () => {
    const letters = { count: 1200, since: '2026-03-01T02:00:00Z' };
    open({ failing: { items: [], next_page_token: null, total: 0 }, letters });
    const row = (await screen.findByText(/^Dead letters are not published .*: 1,200 wait/)).closest('li')!;
    expect(within(row).getByRole('link').getAttribute('href')).toBe('/admin/dead-letters');
  });

  it('the attention card says that more dead letters may wait than are counted', async () => {
    const letters = { count: 10_000, since: '2026-03-01T02:00:00Z' };
    open({ failing: { items: [], next_page_token: null, total: 0 }, letters });
    await screen.findByText(/: 10,000\+ wait/);
  });

  it('the attention card names jobs that cannot be planned and counts the others', async () => {
    const unplanned = Array.from({ length: 8 }, (_, i) => ({
      job_id: 'job-' + i,
      job_name: 'Job ' + i,
      fire_time: '2026-03-01T02:00:00Z',
    }));
    open({ failing: { items: [], next_page_token: null, total: 0 }, unplanned });
    const first = (await screen.findByText('Job 0 cannot be planned.')).closest('li')!;
    expect(within(first).getByRole('link').getAttribute('href')).toBe(
      '/jobs/job-0?tab=why&at=2026-03-01T02%3A00%3A00Z',
    );
    const more = screen.getByText('2 more jobs cannot be planned').closest('li')!;
    expect(within(more).getByRole('link').getAttribute('href')).toBe('/jobs');
  });

  it('the attention card counts further held runs and missed fires', async () => {
    open({
      failing: { items: failing(1), next_page_token: null, total: 1 },
      held: {
        items: [{ run_id: 'r1', job_id: 'a', job_name: 'A' }],
        next_page_token: 'x',
        total: 2,
      },
      gaps: {
        items: [{ job_id: 'a', schedule_id: 1, from: '', to: '', reason: 'misfire', count: 1 }],
        next_page_token: 'x',
        total_at_least: 1000,
      },
    });
    await screen.findByText('1 more held run');
    expect(screen.getByText('999+ more periods with missed fires')).toBeTruthy();
    expect(screen.queryByText(/more failing/)).toBeNull();
  });
});

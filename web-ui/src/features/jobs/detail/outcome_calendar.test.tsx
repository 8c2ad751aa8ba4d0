import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { render, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { queryClient } from '../../../api/queries';
import type { Job, RunState } from '../../../api/types';
import { parseSearch, stringifySearch } from '../../../lib/search_params';
import EndsCard, { readOutcomes } from './outcome_calendar';
import { punctualityOf, outcomesByDay, successOfLast, weeksTo } from './outcome_calendar_values';
import { localIn } from '../../../lib/zones';
import { HttpResponse, at, http, problem, server } from '../../../../test_support/server';

const ended = (state: RunState, ended_at: string) => ({
  state,
  ended_at,
  fire_time: ended_at,
  run_id: 'r' + ended_at,
  job_id: 'backup',
});
const job = { job_id: 'backup', name: 'Backup', schedules: [], time_zone: 'UTC' } as unknown as Job;

describe('the success share', () => {
  it('the success share counts runs that ended by themselves, rounded down', () => {
    const runs = ['RUNNING', 'FAILED', 'CANCELLED', ...Array.from({ length: 199 }, () => 'COMPLETED')].map(
      (state) => ({ state: state as RunState }),
    );
    expect(successOfLast(runs)).toEqual({ share: 0.99, n: 200 });
    expect(successOfLast([{ state: 'LOST' }, { state: 'TIMED_OUT' }])).toEqual({ share: 0, n: 2 });
    expect(successOfLast([{ state: 'RUNNING' }, { state: 'SKIPPED' }])).toEqual({ share: null, n: 0 });
  });
});

describe('punctuality', () => {
  const run = (started_at: string | null, more = {}) => ({
    kind: 'cron' as const,
    attempt: 1,
    fire_time: '2026-03-01T02:00:00Z',
    started_at,
    due_at: null,
    ...more,
  });
  it('the punctuality share counts first attempts of scheduled runs', () => {
    const runs = [
      run('2026-03-01T02:00:00.4Z'),
      run('2026-03-01T02:00:01Z'),
      run('2026-03-01T02:00:09Z'),
      run('2026-03-01T01:59:59.99Z'),
      run('2026-03-01T02:30:00Z', { due_at: '2026-03-01T02:30:00Z' }), // delayed by jitter
      run(null),
      run('2026-03-01T03:00:00Z', { attempt: 2 }),
      run('2026-03-01T03:00:00Z', { kind: 'manual' }),
    ];
    expect(punctualityOf(runs, 1000)).toEqual({ share: 0.8, n: 5, latest: 9000 });
    expect(punctualityOf(runs, 10)).toMatchObject({ share: 0.4 });
    expect(punctualityOf(runs.slice(5), 1000)).toEqual({ share: null, n: 0, latest: 0 });
  });
});

describe('the calendar', () => {
  it('the outcome calendar covers twelve weeks from Monday up to today in the job’s zone', () => {
    const weeks = weeksTo(Date.parse('2026-03-04T23:30:00Z'), 'Europe/Paris'); // a Thursday in Paris
    expect(weeks.length).toBe(12);
    expect(weeks[0]![0]).toBe('2025-12-15');
    expect(weeks[11]).toEqual(['2026-03-02', '2026-03-03', '2026-03-04', '2026-03-05', null, null, null]);
  });
  it('the outcome calendar counts a run on the day it ended', () => {
    const days = outcomesByDay(
      [
        ended('COMPLETED', '2026-03-01T23:30:00Z'),
        ended('LOST', '2026-03-01T22:30:00Z'),
        { state: 'RUNNING', ended_at: null },
      ],
      'Europe/Paris',
    );
    expect([...days]).toEqual([
      ['2026-03-02', { good: 1, bad: 0 }],
      ['2026-03-01', { good: 0, bad: 1 }],
    ]);
  });
});

describe('reading the outcomes', () => {
  it('readOutcomes stops at the last page', async () => {
    const asked: URLSearchParams[] = [];
    server.use(
      http.get(at('runs'), ({ request }) => {
        asked.push(new URL(request.url).searchParams);
        return HttpResponse.json({
          items: [ended('COMPLETED', '2026-03-01T02:00:00Z')],
          next_page_token: asked.length === 1 ? 'x' : null,
        });
      }),
    );
    expect(await readOutcomes('backup', '2026-01-01T00:00:00Z')).toMatchObject({
      back: null,
      runs: [{}, {}],
    });
    expect(asked.map((one) => one.get('page_token'))).toEqual([null, 'x']);
    expect(asked[0]!.getAll('state')).toEqual(['COMPLETED', 'FAILED', 'TIMED_OUT', 'LOST']);
    expect([asked[0]!.get('job_id'), asked[0]!.get('since')]).toEqual(['backup', '2026-01-01T00:00:00Z']);
  });
  it('readOutcomes stops after four pages and reports how far back it got', async () => {
    let pages = 0;
    server.use(
      http.get(at('runs'), () => {
        pages += 1;
        return HttpResponse.json({
          items: [ended('COMPLETED', `2026-03-0${9 - pages}T02:00:00Z`)],
          next_page_token: 'x',
        });
      }),
    );
    expect(await readOutcomes('backup', '2026-01-01T00:00:00Z')).toMatchObject({
      back: '2026-03-05T02:00:00Z',
    });
    expect(pages).toBe(4);
  });
});

describe('the card', () => {
  beforeEach(() => queryClient.clear());
  const today = new Date().toISOString();
  const day = localIn('UTC', Date.now()).slice(0, 10);
  const show = (answer: () => Response, of = job) => {
    server.use(http.get(at('runs'), answer));
    const router = createRouter({
      routeTree: createRootRoute({ component: () => <EndsCard job={of} /> }),
      history: createMemoryHistory(),
      parseSearch,
      stringifySearch,
    });
    render(
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>,
    );
  };

  it('the outcome card links each day to its runs and repeats it in a table', async () => {
    show(() =>
      HttpResponse.json({
        items: [ended('FAILED', today), ended('COMPLETED', today), ended('COMPLETED', today)],
        next_page_token: null,
      }),
    );
    const cell = await screen.findByRole('link', { name: `${day}: 3 runs, 1 failed` });
    expect(cell.textContent).toBe('1/3');
    expect(cell.getAttribute('href')).toContain(`job_id=backup&state=COMPLETED`);
    expect(cell.getAttribute('href')).toContain('since=' + encodeURIComponent(day + 'T00:00:00.000Z'));
    expect(screen.getByTestId('ends-sum').textContent).toContain('66% of 3 runs succeeded.');
    const row = within(screen.getByRole('rowheader', { name: day }).closest('tr')!);
    expect(row.getAllByRole('cell').map((one) => one.textContent)).toEqual(['2', '1']);
    expect(screen.queryByText('?')).toBeNull();
  });

  it('the outcome card reports punctuality by the job’s own limit', async () => {
    const begun = (started_at: string) => ({
      ...ended('COMPLETED', today),
      kind: 'cron',
      attempt: 1,
      fire_time: '2026-03-01T02:00:00Z',
      started_at,
    });
    show(
      () =>
        HttpResponse.json({
          items: [begun('2026-03-01T02:00:30Z'), begun('2026-03-01T02:00:00.5Z')],
          next_page_token: null,
        }),
      { ...job, notify: { late_after_s: 60 } },
    );
    expect((await screen.findByTestId('ends-sum')).textContent).toContain(
      '100% of 2 scheduled runs started within 1 min of their fire time; the longest delay was 30 s.',
    );
  });

  it('the outcome card marks days that were not read', async () => {
    show(() => HttpResponse.json({ items: [ended('COMPLETED', today)], next_page_token: 'x' }));
    expect((await screen.findByRole('link', { name: `${day}: 4 runs, 0 failed` })).textContent).toBe('4+');
    expect(screen.getByRole('status').textContent).toContain('Only the last 4 runs are included');
    expect(screen.getAllByText('?').length).toBeGreaterThan(70);
  });

  it('the outcome card is hidden when nothing ended, and shows a failed load', async () => {
    show(() => HttpResponse.json({ items: [], next_page_token: null }));
    await screen.findByRole('heading', { name: 'Results, last 12 weeks' });
    await waitFor(() => expect(screen.queryByRole('heading')).toBeNull());
    server.use(http.get(at('runs'), () => problem(422, 'contradiction', 'Not now.')));
    await queryClient.resetQueries();
    await screen.findByText('Could not load this');
  });
});

import { QueryClientProvider } from '@tanstack/react-query';
import {
  RouterProvider,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
} from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { queryClient } from '../../api/queries';
import type { FireLoad } from '../../api/types';
import { parseSearch, stringifySearch } from '../../lib/search_params';
import WhatIfCard from './what_if_card';
import { missedIn, windowOf } from './what_if_values';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';

describe('the window', () => {
  it('a what-if window is read on the clock of the zone', () => {
    expect(windowOf('2026-03-02T02:00', '2026-03-02T03:30', 'Europe/Paris')).toEqual({
      from: Date.parse('2026-03-02T01:00:00Z'),
      until: Date.parse('2026-03-02T02:30:00Z'),
    });
  });
  it('a what-if window reports missing, reversed and too long times', () => {
    expect(windowOf('', '2026-03-02T03:30', 'UTC')).toBe('no_time');
    expect(windowOf('2026-03-02T02:00', 'soon', 'UTC')).toBe('no_time');
    expect(windowOf('2026-03-02T02:00', '2026-03-02T02:00', 'UTC')).toBe('backwards');
    expect(windowOf('2026-03-02T02:00', '2026-03-09T02:00', 'UTC')).toMatchObject({});
    expect(windowOf('2026-03-02T02:00', '2026-03-09T02:01', 'UTC')).toBe('too_long');
  });
});

const bucket = (start: string, fires: number) => ({ start, fires });
const load = (jobs = 30): FireLoad => ({
  from: '2026-03-02T01:30:00Z',
  until: '2026-03-02T04:30:00Z',
  busiest: null,
  jobs,
  jobs_read: 40,
  truncated: false,
  buckets: [
    bucket('2026-03-02T01:30:00Z', 7),
    bucket('2026-03-02T02:30:00Z', 0),
    bucket('2026-03-02T03:30:00Z', 5),
  ],
  items: Array.from({ length: jobs }, (_, i) => ({
    job_id: 'j' + i,
    name: 'Job ' + i,
    fires: i + 1,
    first_fire_time: '',
    buckets: [],
  })),
});

describe('the what-if result', () => {
  it('the what-if result has the sum, the affected hours and the first twenty jobs', () => {
    const missed = missedIn(load(), 'Europe/Paris');
    expect(missed.fires).toBe(12);
    expect(missed.hours.map(({ label, fires }) => [label, fires])).toEqual([
      ['2026-03-02 02:30', 7],
      ['2026-03-02 04:30', 5],
    ]);
    expect([missed.jobs.length, missed.jobs[0]!.name, missed.more]).toEqual([20, 'Job 0', 10]);
  });
});

describe('the card', () => {
  let asked: URLSearchParams[];
  beforeEach(() => {
    queryClient.clear();
    asked = [];
    server.use(
      http.get(at('schedules/load'), ({ request }) => {
        asked.push(new URL(request.url).searchParams);
        return HttpResponse.json(load());
      }),
    );
  });
  function open(search = '') {
    const root = createRootRoute();
    const here = createRoute({
      getParentRoute: () => root,
      path: '/schedule',
      component: () => <WhatIfCard zone="Europe/Paris" />,
    });
    const router = createRouter({
      routeTree: root.addChildren([here]),
      parseSearch,
      stringifySearch,
      history: createMemoryHistory({ initialEntries: ['/schedule' + search] }),
    });
    render(
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>,
    );
    return router;
  }
  const fill = async (from: string, until: string) => {
    fireEvent.change(await screen.findByLabelText('Pause start (Europe/Paris)'), { target: { value: from } });
    fireEvent.change(screen.getByLabelText('Pause end (Europe/Paris)'), { target: { value: until } });
    fireEvent.click(screen.getByRole('button', { name: 'Preview' }));
  };

  it('the what-if card says that nothing changes and sends no invalid window', async () => {
    open();
    await screen.findByText(/nothing is paused or changed/);
    await fill('2026-03-02T02:30', '2026-03-02T02:00');
    expect(screen.getByRole('alert').textContent).toBe('The end must be after the start.');
    expect(asked).toEqual([]);
  });

  it('the what-if card writes the window to the address, counts and clears it', async () => {
    const router = open();
    await fill('2026-03-02T02:30', '2026-03-02T05:30');
    expect((await screen.findByTestId('what-if')).textContent).toBe('12 fires of 30 jobs would be skipped.');
    expect(router.state.location.search).toEqual({
      pause_from: '2026-03-02T01:30:00.000Z',
      pause_until: '2026-03-02T04:30:00.000Z',
    });
    expect(Object.fromEntries(asked[0]!)).toEqual({
      from: '2026-03-02T01:30:00.000Z',
      until: '2026-03-02T04:30:00.000Z',
      bucket: 'hour',
      by_job: 'true',
    });
    expect(screen.getByText('and 10 more jobs')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Clear' }));
    await waitFor(() => expect(screen.queryByTestId('what-if')).toBeNull());
    expect(router.state.location.searchStr).toBe('');
  });

  it('the what-if card opens from its address and shows a refusal', async () => {
    server.use(
      http.get(at('schedules/load'), () =>
        problem(400, 'invalid', 'Too long.', {
          errors: [{ pointer: '?until', code: 'out_of_range', detail: 'Too long.' }],
        }),
      ),
    );
    open('?pause_from=2026-03-02T01:30:00Z&pause_until=2026-05-02T04:30:00Z');
    expect((await screen.findByLabelText<HTMLInputElement>('Pause start (Europe/Paris)')).value).toBe(
      '2026-03-02T02:30',
    );
    await screen.findByText('Could not load this');
  });

  it('the what-if card ignores an address without a time', async () => {
    open('?pause_from=soon&pause_until=2026-05-02T04:30:00Z');
    await screen.findByText(/nothing is paused or changed/);
    expect(screen.queryByRole('button', { name: 'Clear' })).toBeNull();
    expect(asked).toEqual([]);
  });
});

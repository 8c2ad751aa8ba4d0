import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { render, screen, within } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { queryClient } from '../../../api/queries';
import type { Job } from '../../../api/types';
import { limitsRuns, queuesRuns } from '../form/form_schema';
import QueueCard from './queue_card';
import { HttpResponse, at, http, problem, server } from '../../../../test_support/server';

const job = { job_id: 'backup', name: 'Backup', schedules: [], time_zone: 'UTC' } as unknown as Job;
const run = (n: number, state: string) => ({
  run_id: 'r' + n,
  job_id: 'backup',
  state,
  fire_time: `2026-03-01T02:0${n}:00Z`,
});
const show = (queue: object) => {
  server.use(
    http.get(at('jobs/backup/queue'), () =>
      HttpResponse.json({ overlap_policy: 'queue_all', max_running: 2, queue_max: 100, ...queue }),
    ),
  );
  return draw();
};
const draw = () => {
  const router = createRouter({
    routeTree: createRootRoute({ component: () => <QueueCard job={job} /> }),
    history: createMemoryHistory(),
  });
  return render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
};
const targets = (list: HTMLElement) =>
  within(list)
    .getAllByRole('link')
    .map((link) => link.getAttribute('href'));
beforeEach(() => queryClient.clear());

describe('the card of a queue', () => {
  it('the queue card shows the used slots and the waiting runs in order', async () => {
    show({
      length: 2,
      holders: [run(1, 'RUNNING'), run(2, 'PENDING')],
      queued: [run(3, 'PENDING'), run(4, 'PENDING')],
    });
    await screen.findByText('2 of 2 slots in use');
    expect(targets(screen.getByRole('list', { name: 'Runs that hold a slot' }))).toEqual([
      '/runs/r1',
      '/runs/r2',
    ]);
    screen.getByText('2 runs wait for a slot:');
    expect(targets(screen.getByRole('list', { name: 'Runs that wait for a slot' }))).toEqual([
      '/runs/r3',
      '/runs/r4',
    ]);
    expect(screen.queryByText(/more/)).toBeNull();
  });

  it('the queue card counts the runs that it does not show', async () => {
    show({ length: 41, holders: [], queued: [run(3, 'PENDING')] });
    await screen.findByText('and 40 more');
    screen.getByText('0 of 2 slots in use');
  });

  it('the queue card says when nothing waits', async () => {
    show({ length: 0, holders: [run(1, 'RUNNING')], queued: [] });
    await screen.findByText('No run is waiting.');
    screen.getByText('1 of 2 slots in use');
  });

  it('the queue card shows why it cannot be loaded', async () => {
    server.use(http.get(at('jobs/backup/queue'), () => problem(404, 'not_found', 'No such job.')));
    draw();
    await screen.findByText(/No such job/);
  });
});

it('overlap policies differ in whether they limit and queue runs', () => {
  const policies = ['allow', 'skip', 'queue_one', 'queue_all', 'cancel_previous', 'terminate_previous'];
  expect(policies.filter(limitsRuns)).toEqual(['skip', 'queue_one', 'queue_all']);
  expect(policies.filter(queuesRuns)).toEqual(policies.slice(2));
});

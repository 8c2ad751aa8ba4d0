import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { render, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { ChangeStream, concerns } from '../../../api/changes';
import { queryClient } from '../../../api/queries';
import type { Job, RecentRun } from '../../../api/types';
import LastRunsCard from '../../jobs/detail/last_runs_card';
import { lastEnded, readLastRuns } from './last_runs';
import RunStrip from './run_strip';
import { HttpResponse, at, http, problem, server } from '../../../../test_support/server';

const run = (i: number, state: RecentRun['state']): RecentRun => ({
  run_id: 'run-' + i,
  state,
  fire_time: `2026-03-01T02:0${i}:00Z`,
  started_at: `2026-03-01T02:0${i}:01Z`,
  ended_at: state === 'RUNNING' ? null : `2026-03-01T02:0${i}:03Z`,
});
const job = { job_id: 'backup', name: 'Backup', schedules: [], time_zone: 'UTC' } as unknown as Job;
const show = (element: React.ReactElement) => {
  const router = createRouter({
    routeTree: createRootRoute({ component: () => element }),
    history: createMemoryHistory(),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
};
beforeEach(() => queryClient.clear());

describe('the last runs', () => {
  it('the last runs are requested for a hundred jobs at a time', async () => {
    const asked: string[][] = [];
    server.use(
      http.get(at('recent-runs'), ({ request }) => {
        const { searchParams } = new URL(request.url);
        const ids = searchParams.getAll('job_id');
        expect(searchParams.get('n')).toBe('10');
        asked.push(ids);
        return HttpResponse.json({ items: ids.map((job_id) => ({ job_id, runs: [run(1, 'COMPLETED')] })) });
      }),
    );
    const ids = Array.from({ length: 230 }, (_, i) => 'job-' + i);
    expect([...(await readLastRuns(ids, 10)).keys()].toSorted()).toEqual(ids.toSorted());
    expect(asked.map((some) => some.length).toSorted((a, b) => a - b)).toEqual([30, 100, 100]);
  });

  it('the run strip shows each run from oldest to newest with its result and a link', async () => {
    show(<RunStrip runs={[run(3, 'RUNNING'), run(2, 'FAILED'), run(1, 'COMPLETED')]} name="Backup" />);
    const strip = within(await screen.findByRole('list', { name: /^Last runs of Backup/ }));
    const links = strip.getAllByRole('link');
    expect(links.map((one) => one.getAttribute('href'))).toEqual([
      '/runs/run-1',
      '/runs/run-2',
      '/runs/run-3',
    ]);
    expect(links.map((one) => one.getAttribute('aria-label'))).toEqual([
      'Completed, 2026-03-01 02:01:00 UTC, took 2 s',
      'Failed, 2026-03-01 02:02:00 UTC, took 2 s',
      'Running, 2026-03-01 02:03:00 UTC',
    ]);
  });

  it('lastEnded finds the newest run that ran to its end', () => {
    const runs = [
      run(5, 'PENDING'),
      run(4, 'RUNNING'),
      run(3, 'SKIPPED'),
      run(2, 'FAILED'),
      run(1, 'COMPLETED'),
    ];
    expect(lastEnded(runs)?.run_id).toBe('run-2');
    expect(lastEnded(runs.slice(0, 3))).toBeUndefined();
  });

  it('the run strip distinguishes states by more than colour', async () => {
    const states: RecentRun['state'][] = [
      'COMPLETED',
      'FAILED',
      'TIMED_OUT',
      'LOST',
      'HELD',
      'RUNNING',
      'PENDING',
      'CANCELLED',
      'SKIPPED',
    ];
    show(<RunStrip runs={states.map((state, i) => run(i, state))} name="Backup" />);
    const strip = await screen.findByTestId('strip');
    const shapes = [...strip.querySelectorAll('rect[stroke-width]')].map(
      (one) =>
        `${one.getAttribute('height')} ${one.getAttribute('fill-opacity')} ${one.getAttribute('stroke-dasharray')}`,
    );
    expect(new Set(shapes).size).toBe(states.length);
  });

  it('the last runs are reread after a change of runs', async () => {
    let answers = 0;
    server.use(
      http.get(at('recent-runs'), () => {
        answers += 1;
        return HttpResponse.json({
          items: [
            {
              job_id: 'backup',
              runs: answers === 1 ? [run(1, 'FAILED')] : [run(2, 'COMPLETED'), run(1, 'FAILED')],
            },
          ],
        });
      }),
    );
    show(<LastRunsCard job={job} />);
    expect((await screen.findAllByRole('link')).length).toBe(1);
    expect(concerns(['runs', 'recent', 20, ['backup']], 'runs')).toBe(true);
    const stream = new ChangeStream(queryClient);
    stream.take([{ id: '1', name: 'change', data: JSON.stringify({ changes: [{ topic: 'runs' }] }) }]);
    await waitFor(() => expect(screen.getAllByRole('link').length).toBe(2));
    stream.stop();
  });

  it('the last-runs card is left out when the server does not support it', async () => {
    let asked = false;
    server.use(
      http.get(at('recent-runs'), () => {
        asked = true;
        return problem(404, 'not_found', 'There is no such path.');
      }),
    );
    show(
      <>
        <LastRunsCard job={job} />
        <p>{'the rest'}</p>
      </>,
    );
    await screen.findByText('the rest');
    await waitFor(() => expect(asked).toBe(true));
    expect(screen.queryByText('Last 20 runs')).toBeNull();
  });
});

import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { queryClient } from '../../../api/queries';
import type { Job } from '../../../api/types';
import FailurePause from './failure_pause';
import { HttpResponse, at, http, server } from '../../../../test_support/server';

const job = {
  job_id: 'backup',
  name: 'Backup',
  state: 'PAUSED',
  paused_by: 'failures',
  pause_reason: '3 runs in a row have failed (pause_after_failures)',
  pause_after_failures: 3,
  schedules: [],
  time_zone: 'UTC',
  allowed_actions: ['resume'],
} as unknown as Job;
const run = (n: number, state: string, reason: string) => ({
  run_id: 'r' + n,
  job_id: 'backup',
  state,
  reason,
  fire_time: `2026-03-01T02:0${n}:00Z`,
});
const show = (shown: Job) => {
  const router = createRouter({
    routeTree: createRootRoute({ component: () => <FailurePause job={shown} /> }),
    history: createMemoryHistory(),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
};
beforeEach(() => queryClient.clear());

describe('the banner of a job that its failures have paused', () => {
  it('the banner names what failed and resumes the job', async () => {
    let asked = '';
    let resumed = 0;
    server.use(
      http.get(at('runs'), ({ request }) => {
        asked = new URL(request.url).search;
        return HttpResponse.json({
          items: [
            run(5, 'TIMED_OUT', 'timeout'),
            run(4, 'FAILED', 'exit_code'),
            run(3, 'FAILED', 'exit_code'),
            run(2, 'FAILED', 'exit_code'),
          ],
          next_page_token: null,
        });
      }),
      http.post(at('jobs/backup/resume'), () => {
        ++resumed;
        return HttpResponse.json({ ...job, state: 'ENABLED' });
      }),
    );
    show(job);
    await screen.findByText(
      'Paused: 3 runs in a row have failed. It starts nothing until somebody resumes it.',
    );
    const list = await screen.findByRole('list', { name: 'Runs that failed' });
    expect(
      within(list)
        .getAllByRole('link')
        .map((link) => link.getAttribute('href')),
    ).toEqual(['/runs/r5', '/runs/r4', '/runs/r3']);
    expect(asked).toContain('state=FAILED&state=TIMED_OUT');
    fireEvent.click(screen.getByRole('button', { name: 'Resume' }));
    await waitFor(() => expect(resumed).toBe(1));
  });

  it('the banner says the reason if the job has no limit any more', async () => {
    server.use(http.get(at('runs'), () => HttpResponse.json({ items: [], next_page_token: null })));
    show({ ...job, pause_after_failures: undefined } as Job);
    await screen.findByText('Paused: 3 runs in a row have failed (pause_after_failures)');
  });
});

import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { render, screen, within } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import i18next from 'i18next';
import { queryClient } from '../../../api/queries';
import type { Job, Schedule } from '../../../api/types';
import GroupCard from './group_card';
import { limitsText, scheduleText } from '../../schedule/schedule_text';
import { HttpResponse, at, http, problem, server } from '../../../../test_support/server';

const job = { job_id: 'a', name: 'A', schedules: [], time_zone: 'UTC' } as unknown as Job;
const show = () => {
  const router = createRouter({
    routeTree: createRootRoute({ component: () => <GroupCard job={job} group="db" /> }),
    history: createMemoryHistory(),
  });
  return render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
};
const waits = (run: string, job_id: string, position: number) => ({
  run_id: run,
  job_id,
  job_name: '',
  position,
  since: '2026-03-01T02:00:00Z',
  priority: 0,
});
const group = { name: 'db', limit: 3, running: 3, queued: 7, jobs: 2, holders: [] };
beforeEach(() => queryClient.clear());

describe('the card of a group', () => {
  it('the group card shows the slots and the queue places of this job’s runs', async () => {
    server.use(
      http.get(at('groups/db'), () =>
        HttpResponse.json({
          ...group,
          queue: [waits('r1', 'b', 1), waits('r2', 'a', 2), waits('r3', 'a', 3)],
        }),
      ),
    );
    show();
    await screen.findByText('3 of 3 slots in use');
    expect(screen.getByRole('link', { name: 'View the group' }).getAttribute('href')).toBe('/groups/db');
    const list = screen.getByRole('list', { name: 'Runs that wait for a slot' });
    expect(
      within(list)
        .getAllByRole('listitem')
        .map((item) => item.firstElementChild!.textContent),
    ).toEqual(['2nd of 7', '3rd of 7']);
    expect(
      within(list)
        .getAllByRole('link')
        .map((link) => link.getAttribute('href')),
    ).toEqual(['/runs/r2', '/runs/r3']);
  });

  it('the group card says when no run of this job waits', async () => {
    server.use(
      http.get(at('groups/db'), () => HttpResponse.json({ ...group, queue: [waits('r1', 'b', 1)] })),
    );
    show();
    await screen.findByText('No run of this job waits for a slot of the group.');
  });

  it('the group card shows why it cannot be loaded', async () => {
    server.use(http.get(at('groups/db'), () => problem(404, 'not_found', 'There is no group db.')));
    show();
    await screen.findByText('There is no group db.');
  });
});

describe('the text of a schedule', () => {
  const t = i18next.t.bind(i18next) as (key: string, values?: object) => string;
  const limits = (schedule: object) => limitsText(schedule as Schedule, t, 'en');
  it('the text of a fixed-delay schedule says what it follows', () => {
    expect(scheduleText({ kind: 'delay', every_ms: 10_000 }, t, 'en')).toBe('10 s after the last run ended');
  });
  it('the text of a schedule names calendars and parameters', () => {
    expect(
      limits({ kind: 'cron', cron_expression: '* * * * *', calendar: 'office', blackout: 'closing' }),
    ).toBe('only in calendar office · not in calendar closing');
    expect(limits({ kind: 'rate', every_ms: 1, calendar: '', parameters: { n: 1, mode: 'full' } })).toBe(
      'with n=1, mode=full',
    );
    expect(limits({ kind: 'delay', every_ms: 1, start_time: '2026-03-01T00:00:00Z' })).toBe(
      'from 2026-03-01 00:00:00Z',
    );
    expect(limits({ kind: 'once', at: 'x' })).toBe('');
  });
});

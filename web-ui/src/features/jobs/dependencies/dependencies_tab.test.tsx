import '../../../../test_support/texts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import i18next from 'i18next';
import type { ReactElement } from 'react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../../api/client';
import { queryClient } from '../../../api/queries';
import type { AfterSchedule, Job, Problem } from '../../../api/types';
import { HttpResponse, at, http, problem, server } from '../../../../test_support/server';
import { dependentsIn } from './dependents';
import { DeleteDialog } from '../actions/pause_delete_dialogs';
import StartedBy from '../../runs/detail/started_by';
import DependenciesTab from './dependencies_tab';
import { limitsText, scheduleText } from '../../schedule/schedule_text';
import { UpstreamOf, UpstreamText } from './upstream_text';
import '../../../ui/dialogs/modal_dialog';

const job = {
  job_id: 'report',
  name: 'Report',
  schedules: [],
  time_zone: 'UTC',
  version: 3,
} as unknown as Job;
const show = (element: ReactElement) => {
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
const answer = (more: object) =>
  server.use(
    http.get(at('jobs/report/dependencies'), () =>
      HttpResponse.json({ upstream: [], downstream: [], hidden: 0, ...more }),
    ),
  );
const items = (name: string) =>
  within(screen.getByRole('list', { name }))
    .getAllByRole('listitem')
    .map((item) => item.textContent);
beforeEach(() => queryClient.clear());

describe('the dependencies of a job', () => {
  it('the dependencies tab lists both directions with results; a deleted job has no link', async () => {
    answer({
      upstream: [
        { job_id: 'load', job_name: 'Load', on: 'success' },
        { job_id: 'old', job_name: 'Old', on: 'done', deleted: true },
      ],
      downstream: [{ job_id: 'alarm', job_name: 'Alarm', on: 'failure' }],
      hidden: 2,
    });
    show(<DependenciesTab job={job} />);
    await screen.findByRole('list', { name: 'Upstream jobs' });
    expect(items('Upstream jobs')).toEqual([
      'Loadon success',
      'Oldon success or failure · deleted; no longer starts this job',
    ]);
    expect(items('Downstream jobs')).toEqual(['Alarmon failure']);
    expect(screen.getAllByRole('link').map((link) => link.getAttribute('href'))).toEqual([
      '/jobs/load',
      '/jobs/alarm',
    ]);
    screen.getByText('Not shown: 2 jobs that you may not read.');
  });

  it('the dependencies tab says for which runs the job waits, and which workflows run it', async () => {
    const waits = { kind: 'waits', on: 'success' };
    answer({
      upstream: [
        { job_id: 'load', job_name: 'Load', ...waits },
        { job_id: 'load', job_name: 'Load', ...waits, on: 'done' },
        { job_id: 'night', job_name: 'Night', ...waits, on: 'done', deleted: true },
        { job_id: 'node', job_name: 'Node', kind: 'node', on: null },
      ],
      downstream: [
        { job_id: 'mail', job_name: 'Mail', ...waits },
        { job_id: 'flow', job_name: 'Flow', kind: 'node', on: null },
      ],
    });
    server.use(
      http.get(at('jobs/flow/graph'), () =>
        HttpResponse.json({
          nodes: [
            { id: 'first', job_id: 'report' },
            { id: 'second', job_id: 'load' },
            { id: 'third', job_id: 'report' },
          ],
        }),
      ),
    );
    const waits_for = [
      { job: 'load', on: 'success', window: { day: 0 }, which: 'last' },
      { job: 'load', in: 'night', on: 'done', window: { day: -1 }, which: 'all' },
    ];
    show(<DependenciesTab job={{ ...job, waits_for } as Job} />);
    await screen.findByRole('list', { name: 'Upstream jobs' });
    expect(items('Upstream jobs')).toEqual([
      'Loadwaits for: last fire of the same day · success',
      'Loadwaits for: every fire of the day before · success or failure',
      'Nightwaits for its node load: every fire of the day before · success or failure · deleted; the wait ends at its limit',
    ]);
    expect(items('Jobs of its nodes')).toEqual(['Node']);
    expect(items('Downstream jobs')).toEqual(['Mailwaits on success']);
    await screen.findByText('2 nodes: first, third');
    expect(items('Used by workflows')).toEqual(['Flow2 nodes: first, third']);
    expect(screen.getByRole('link', { name: 'Flow' }).getAttribute('href')).toBe('/jobs/flow?tab=graph');
  });

  it('the dependencies tab says when there are none', async () => {
    answer({});
    show(<DependenciesTab job={job} />);
    await screen.findByText('This job does not start after another job.');
    screen.getByText('No job starts after this job.');
    expect(screen.queryByRole('list')).toBeNull();
    expect(screen.queryByText(/^Not shown/)).toBeNull();
  });

  it('the dependencies tab shows why it cannot be loaded', async () => {
    server.use(http.get(at('jobs/report/dependencies'), () => problem(404, 'not_found', 'no job report')));
    show(<DependenciesTab job={job} />);
    await screen.findByText('no job report');
  });
});

describe('the text of a schedule after another job', () => {
  const t = i18next.t.bind(i18next) as (key: string, values?: object) => string;
  const after: AfterSchedule = { kind: 'after', job: 'load', on: 'failure' };

  it('the text of a schedule names the upstream job and its result', () => {
    expect(scheduleText({ kind: 'after', job: 'load' }, t, 'en')).toBe('after load succeeds');
    expect(scheduleText(after, t, 'en', 'Load')).toBe('after Load fails');
    expect(scheduleText({ ...after, on: 'done' }, t, 'en', 'Load')).toBe('after Load succeeds or fails');
    expect(limitsText({ ...after, parameters: { n: 1 } }, t, 'en')).toBe('with n=1');
  });

  it('the text of a schedule uses the job’s name, or its ID when it may not be read', async () => {
    server.use(
      http.get(at('jobs/load'), () => HttpResponse.json({ job_id: 'load', name: 'Load orders' })),
      http.get(at('jobs/hers'), () => problem(403, 'forbidden', 'no')),
    );
    show(
      <>
        <UpstreamText schedule={after} />
        <UpstreamText schedule={{ ...after, job: 'hers' }} />
        <UpstreamText schedule={{ ...after, job: 'shown' }} known="Shown" />
      </>,
    );
    await screen.findByRole('link', { name: 'after Load orders fails' });
    screen.getByRole('link', { name: 'after hers fails' });
    screen.getByRole('link', { name: 'after Shown fails' });
  });

  it('the text of a schedule names a deleted upstream job without a link', async () => {
    answer({ upstream: [{ job_id: 'load', job_name: 'Load', on: 'failure', deleted: true }] });
    show(<UpstreamOf job={job} schedule={after} />);
    await screen.findByText('after Load fails');
    await waitFor(() => expect(screen.queryByRole('link')).toBeNull());
  });
});

describe('a run started by another job', () => {
  it('a run links to the run that started it, and to its job', async () => {
    show(
      <StartedBy
        trigger={{
          run_id: 'r0',
          job_id: 'load',
          job_name: 'Load',
          state: 'COMPLETED',
          fire_time: '2026-03-01T03:00:00Z',
        }}
      />,
    );
    expect((await screen.findByRole('link', { name: 'Run of Load' })).getAttribute('href')).toBe('/runs/r0');
    expect(screen.getByRole('link', { name: 'load' }).getAttribute('href')).toBe('/jobs/load');
  });
});

describe('the delete of an upstream job', () => {
  const refusal = { status: 409, code: 'has_dependents', detail: 'no', details: { jobs: ['Alarm', 'Mail'] } };

  it('a refused delete names the dependent jobs', () => {
    const error = (code: string, more: object) => new ApiError(409, code, 'no', more as Problem);
    expect(dependentsIn(error('has_dependents', refusal))).toEqual(['Alarm', 'Mail']);
    expect(dependentsIn(error('has_dependents', {}))).toEqual([]);
    expect(dependentsIn(error('conflict', refusal))).toBeNull();
    expect(dependentsIn(new Error('x'))).toBeNull();
  });

  it('the delete dialog names dependent jobs and deletes after a second confirmation', async () => {
    const asked: string[] = [];
    server.use(
      http.delete(at('jobs/report'), ({ request }) => {
        asked.push(`${new URL(request.url).search} ${request.headers.get('If-Match')}`);
        return asked.length === 1
          ? problem(409, 'has_dependents', 'no', { details: refusal.details })
          : new HttpResponse(null, { status: 204 });
      }),
    );
    const onDone = vi.fn<() => void>();
    show(<DeleteDialog job={job} onClose={() => {}} onDone={onDone} />);
    fireEvent.click(await screen.findByRole('button', { name: 'Delete' }));
    await screen.findByText('These jobs depend on Report:');
    expect(screen.getAllByRole('listitem').map((item) => item.textContent)).toEqual(['Alarm', 'Mail']);
    expect(onDone).not.toHaveBeenCalled();
    fireEvent.click(screen.getByRole('button', { name: 'Delete anyway' }));
    await waitFor(() => expect(onDone).toHaveBeenCalledOnce());
    expect(asked).toEqual([' "v3"', '?force=true "v3"']);
  });

  it('the delete dialog closes after any other refusal', async () => {
    server.use(http.delete(at('jobs/report'), () => problem(412, 'stale_version', 'changed')));
    const onClose = vi.fn<() => void>();
    show(<DeleteDialog job={job} onClose={onClose} />);
    fireEvent.click(await screen.findByRole('button', { name: 'Delete' }));
    await waitFor(() => expect(onClose).toHaveBeenCalledOnce());
  });
});

import '../../../../test_support/texts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import type { ReactElement } from 'react';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { queryClient } from '../../../api/queries';
import type { Job } from '../../../api/types';
import { HttpResponse, at, http, problem, server } from '../../../../test_support/server';
import { Facts } from '../../../ui/ui';
import { JobEditor } from '../form/job_editor';
import { definitionOf } from '../form/form_values';
import { waitsFacts } from './waits_facts';
import './waits_fields';

const SLOW_MS = 60_000;
const job = {
  job_id: 'report',
  name: 'Report',
  type: 'shell',
  command: 'true',
  cron_expression: '0 3 * * *',
  schedules: [],
  time_zone: 'Europe/Paris',
  enabled: true,
  version: 3,
} as unknown as Job;
const waits_for = [{ job: 'load', on: 'success', window: { day: 0 }, which: 'last' }];
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
const edit = (more: object = {}) => {
  const edited = { ...job, ...more } as Job;
  show(<JobEditor start={definitionOf(edited)} job={edited} />);
};
const type = (label: string, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
const asYaml = () => {
  fireEvent.click(screen.getByRole('button', { name: 'YAML' }));
  return parse(screen.getByLabelText<HTMLTextAreaElement>('YAML').value) as Record<string, unknown>;
};
const preview = (item: object) => ({
  valid: true,
  errors: [],
  fire_time: '2026-03-02T05:00:00Z',
  items: [
    {
      job: 'load',
      in: null,
      from: '2026-03-01T23:00:00Z',
      until: '2026-03-02T05:00:00Z',
      ahead_until: null,
      fire_time: null,
      run_id: null,
      state: null,
      met: false,
      detail: '',
      ...item,
    },
  ],
});
let asked: unknown[];
beforeEach(() => {
  asked = [];
  queryClient.clear();
  server.use(
    http.get(at('system/config'), () =>
      HttpResponse.json({ version: 1, settings: {}, sources: {}, live: [] }),
    ),
    http.post(at('schedules/preview'), () =>
      HttpResponse.json({ valid: true, errors: [], explanations: [], items: [], warnings: [] }),
    ),
    http.get(at('jobs'), () =>
      HttpResponse.json({ items: [{ job_id: 'load', name: 'Load orders' }], next_page_token: null }),
    ),
    http.get(at('jobs/load'), () => HttpResponse.json({ job_id: 'load', name: 'Load orders' })),
    http.get(at('jobs/nightly'), () => HttpResponse.json({ job_id: 'nightly', name: 'Nightly' })),
    http.post(at('waits/preview'), async ({ request }) => {
      asked.push(await request.json());
      return HttpResponse.json(
        preview({
          fire_time: '2026-03-02T02:00:00Z',
          run_id: 'r7',
          state: 'FAILED',
          detail: 'Waits for load of 2026-03-02 03:00 (run r7, FAILED).',
        }),
      );
    }),
  );
});

describe('the fields of what a job waits for', () => {
  it('the form adds an entry and shows which run it would wait for', async () => {
    edit();
    fireEvent.click(await screen.findByText('Add a job to wait for', {}, { timeout: SLOW_MS }));
    await screen.findByText('Enter a job to see which of its runs counts.');
    expect(asked).toEqual([]);
    type('Job 1 (ID)', 'load');
    await screen.findByText(/^Waits for load of/);
    const box = screen.getByRole('region', { name: 'If it fired now', hidden: true });
    await within(box).findByText('Load orders');
    within(box).getByText('would wait');
    within(box).getByText('Failed');
    expect(asked.at(-1)).toEqual({ waits_for, time_zone: 'Europe/Paris', job_id: 'report' });
    expect(within(box).getByRole('link', { hidden: true }).getAttribute('href')).toBe('/runs/r7');
    expect(asYaml()).toMatchObject({ waits_for, wait_limit_s: 21_600 });
  });

  it('the form shows the fields of the chosen window and removes an entry', async () => {
    edit({ waits_for, wait_limit_s: 3600 });
    await screen.findByText('Wait for runs of other jobs (1)', {}, { timeout: SLOW_MS });
    expect((await screen.findByLabelText<HTMLInputElement>('Wait at most')).value).toBe('1h');
    expect(screen.queryByLabelText('Days before, job 1')).toBeNull();
    type('Fires of job 1 that count', 'before');
    type('Days before, job 1', '2');
    type('If job 1 has several', 'all');
    await waitFor(() =>
      expect(asked.at(-1)).toMatchObject({ waits_for: [{ window: { day: -2 }, which: 'all' }] }),
    );
    type('Fires of job 1 that count', 'span');
    type('Time before, job 1', '2h');
    type('Time after, job 1', '30m');
    await waitFor(() =>
      expect(asked.at(-1)).toMatchObject({ waits_for: [{ window: { back_s: 7200, ahead_s: 1800 } }] }),
    );
    fireEvent.click(screen.getByRole('button', { name: 'Remove job 1', hidden: true }));
    await screen.findByText('Wait for runs of other jobs');
    expect('waits_for' in asYaml()).toBe(false);
  });

  it('the preview says why there is none, and what holds nothing up', async () => {
    const answers = [
      HttpResponse.json({
        ...preview({ detail: 'Waits for lo, which does not exist.' }),
        errors: [{ pointer: '/waits_for/0/job', code: 'unknown_job', detail: 'There is no job lo.' }],
      }),
      HttpResponse.json(preview({ met: true })),
    ];
    server.use(http.post(at('waits/preview'), () => answers.shift()!));
    edit({ waits_for, wait_limit_s: 3600 });
    await screen.findByText('There is no job lo.', {}, { timeout: SLOW_MS });
    type('Result of job 1', 'done');
    await screen.findByText('has come');
  });

  it('an error of the server stands at its field and opens the section', async () => {
    server.use(
      http.put(at('jobs/report'), () =>
        problem(422, 'never_met', 'no', {
          errors: [{ pointer: '/waits_for/0/job', code: 'never_met', detail: 'Load has no schedule.' }],
        }),
      ),
    );
    edit({ waits_for, wait_limit_s: 3600 });
    const field = await screen.findByLabelText('Job 1 (ID)', {}, { timeout: SLOW_MS });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await screen.findByText('Load has no schedule.');
    expect(field.getAttribute('aria-invalid')).toBe('true');
    expect(field.closest('details')!.open).toBe(true);
  });
});

function Shown({ of }: { of: object }) {
  return <Facts items={waitsFacts(of as Job, ((key: string) => key) as never, 'en')} />;
}
describe('the facts of what a job waits for', () => {
  it('the configuration names and links the jobs and the limit', async () => {
    const nested = { ...waits_for[0], in: 'nightly', window: { day: -1 } };
    show(<Shown of={{ waits_for: [...waits_for, nested], wait_limit_s: 3600 }} />);
    await screen.findByRole('link', { name: 'Nightly' });
    expect(screen.getAllByRole('listitem').map((item) => item.textContent)).toEqual([
      'Load orderslast fire of the same day · success',
      'Load orders as a node of Nightlylast fire of the day before · success',
    ]);
    screen.getByText('1 h');
  });
  it('the configuration of a job that waits for nothing has no such facts', () => {
    expect(waitsFacts(job, ((key: string) => key) as never, 'en')).toEqual([]);
  });
});

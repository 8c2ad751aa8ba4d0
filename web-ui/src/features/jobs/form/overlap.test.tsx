import '../../../../test_support/texts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { fireEvent, render, screen, within } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { queryClient } from '../../../api/queries';
import type { Job } from '../../../api/types';
import { definitionOf } from './form_values';
import { JobEditor } from './job_editor';
import { HttpResponse, at, http, server } from '../../../../test_support/server';

const SLOW_MS = 60_000;
const job = {
  job_id: 'backup',
  name: 'Backup',
  type: 'shell',
  command: 'true',
  cron_expression: null,
  schedules: [],
  time_zone: 'UTC',
  enabled: true,
  version: 3,
  overlap_policy: 'allow',
  max_running: 1,
  queue_max: 100,
} as unknown as Job;
const show = async () => {
  const router = createRouter({
    routeTree: createRootRoute({
      component: () => <JobEditor start={definitionOf(job)} job={job} />,
    }),
    history: createMemoryHistory(),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return screen.findByLabelText<HTMLSelectElement>('If a run is still active', {}, { timeout: SLOW_MS });
};
const choose = (policy: HTMLSelectElement, value: string) => fireEvent.change(policy, { target: { value } });
const shown = (label: string) => screen.queryByLabelText<HTMLInputElement>(label) !== null;
beforeEach(() => {
  queryClient.clear();
  server.use(
    http.get(at('system/config'), () =>
      HttpResponse.json({ version: 1, settings: {}, sources: {}, live: [] }),
    ),
  );
});

describe('the choice of how runs overlap', () => {
  it('the overlap field explains each policy', async () => {
    const policy = await show();
    expect(within(policy).getAllByRole('option', { hidden: true })).toHaveLength(6);
    screen.getByText(/not limited/);
    choose(policy, 'terminate_previous');
    screen.getByText(/SIGKILL/);
  });

  it('the overlap field shows the limits that apply to the policy', async () => {
    const policy = await show();
    const limits = () => [shown('Active runs at most'), shown('Waiting runs at most')];
    expect(limits()).toEqual([false, false]);
    choose(policy, 'skip');
    expect(limits()).toEqual([true, false]);
    choose(policy, 'queue_one');
    expect(limits()).toEqual([true, false]);
    choose(policy, 'queue_all');
    expect(limits()).toEqual([true, true]);
    choose(policy, 'cancel_previous');
    expect(limits()).toEqual([false, false]);
  });

  it('the overlap field writes limits to the definition only where they apply', async () => {
    const policy = await show();
    choose(policy, 'queue_all');
    fireEvent.change(screen.getByLabelText('Active runs at most'), { target: { value: '3' } });
    fireEvent.change(screen.getByLabelText('Waiting runs at most'), { target: { value: '7' } });
    const yaml = async () =>
      parse((await screen.findByLabelText<HTMLTextAreaElement>('YAML')).value) as unknown;
    fireEvent.click(screen.getByRole('button', { name: 'YAML' }));
    expect(await yaml()).toMatchObject({ overlap_policy: 'queue_all', max_running: 3, queue_max: 7 });
    fireEvent.click(screen.getByRole('button', { name: 'Form' }));
    choose(await screen.findByLabelText<HTMLSelectElement>('If a run is still active'), 'cancel_previous');
    fireEvent.click(screen.getByRole('button', { name: 'YAML' }));
    expect(await yaml()).toMatchObject({ overlap_policy: 'cancel_previous', max_running: 1 });
  });
});

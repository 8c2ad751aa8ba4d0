import '../../../../test_support/texts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { fireEvent, render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
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
  enabled: false,
  version: 3,
} as unknown as Job;

it('a YAML text that does not say whether the job is enabled keeps its pause', async () => {
  server.use(
    http.get(at('system/config'), () =>
      HttpResponse.json({ version: 1, settings: {}, sources: {}, live: [] }),
    ),
  );
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
  const write = async (text: string) => {
    fireEvent.click(screen.getByRole('button', { name: 'YAML' }));
    fireEvent.change(await screen.findByLabelText('YAML'), { target: { value: text } });
    fireEvent.click(screen.getByRole('button', { name: 'Form' }));
  };
  const enabled = () => screen.getByLabelText<HTMLInputElement>('Enabled').checked;
  await screen.findByLabelText('Enabled', {}, { timeout: SLOW_MS });
  expect(enabled()).toBe(false);
  await write('name: Backup\ntype: shell\ncommand: "false"\n');
  expect(enabled()).toBe(false);
  await write('name: Backup\ntype: shell\ncommand: "false"\nenabled: true\n');
  expect(enabled()).toBe(true);
});

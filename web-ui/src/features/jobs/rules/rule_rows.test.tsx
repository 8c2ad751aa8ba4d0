import '../../../../test_support/texts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { queryClient } from '../../../api/queries';
import type { Job } from '../../../api/types';
import { definitionOf } from '../form/form_values';
import { JobEditor } from '../form/job_editor';
import { HttpResponse, at, http, server } from '../../../../test_support/server';

const SLOW_MS = 60_000;
const job = {
  job_id: 'export',
  name: 'Export',
  type: 'shell',
  command: 'true',
  cron_expression: null,
  schedules: [],
  time_zone: 'UTC',
  enabled: true,
  version: 3,
  parameters: { mode: 'fast' },
  parameter_rules: {
    mode: { type: 'string', description: '', choices: [], required: false },
  },
  retention_days: 0,
} as unknown as Job;

beforeEach(() => {
  queryClient.clear();
  server.use(
    http.get(at('system/config'), () =>
      HttpResponse.json({ version: 1, settings: {}, sources: {}, live: [] }),
    ),
  );
});

describe('the rows of parameters with rules', () => {
  it('the parameter rows are edited into the definition', async () => {
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
    const mode = await screen.findByLabelText<HTMLInputElement>(
      'Default of parameter 1',
      {},
      { timeout: SLOW_MS },
    );
    expect(mode.value).toBe('fast');
    const set = (label: string, value: string) =>
      fireEvent.change(screen.getByLabelText(label), { target: { value } });
    fireEvent.click(screen.getByRole('button', { name: 'Add a parameter', hidden: true }));
    set('Name of parameter 2', 'rows');
    set('Type of parameter 2', 'integer');
    set('Choices for parameter 2', '100\n1000');
    set('Description of parameter 2', 'Rows per file');
    fireEvent.click(screen.getByLabelText('Parameter 2 must be given for each run'));
    expect(screen.queryByLabelText('Default of parameter 2')).toBeNull();
    set('Keep runs for (days)', '7');
    fireEvent.click(screen.getByRole('button', { name: 'YAML' }));
    expect(parse(screen.getByLabelText<HTMLTextAreaElement>('YAML').value)).toMatchObject({
      parameters: { mode: 'fast' },
      parameter_rules: {
        mode: { type: 'string' },
        rows: { type: 'integer', choices: [100, 1000], required: true, description: 'Rows per file' },
      },
      retention_days: 7,
    });
  });
});

import '../../../../test_support/texts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { queryClient } from '../../../api/queries';
import type { Job } from '../../../api/types';
import { definitionOf } from './form_values';
import { JobEditor } from './job_editor';
import { HttpResponse, at, http, server } from '../../../../test_support/server';

const SLOW_MS = 60_000;
const job = (more: object) =>
  ({
    job_id: 'backup',
    name: 'Backup',
    type: 'shell',
    command: 'true',
    cron_expression: null,
    schedules: [],
    time_zone: 'UTC',
    enabled: true,
    version: 3,
    ...more,
  }) as unknown as Job;
const show = (start: Job) => {
  const router = createRouter({
    routeTree: createRootRoute({ component: () => <JobEditor start={definitionOf(start)} job={start} /> }),
    history: createMemoryHistory(),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
};
const select = (label: string) => screen.findByLabelText<HTMLSelectElement>(label, {}, { timeout: SLOW_MS });
const choices = (field: HTMLSelectElement) => [...field.options].map((one) => one.textContent);
const type = (label: string, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
// happy-dom counts a select as edited by the user, so that the form takes the first choice of each.
const showRow = async (schedule: { kind: string } & Record<string, unknown>) => {
  show(job({ schedules: [schedule] }));
  await select('Schedule 1');
  type('Trigger', 'several');
  type('Schedule 1', schedule.kind);
};
const yaml = async () => {
  fireEvent.click(screen.getByRole('button', { name: 'YAML' }));
  const text = await screen.findByLabelText<HTMLTextAreaElement>('YAML');
  return parse(text.value) as Record<string, unknown>;
};
const names = (...all: string[]) => HttpResponse.json({ items: all.map((name) => ({ name })) });
beforeEach(() => {
  queryClient.clear();
  server.use(
    http.get(at('system/config'), () =>
      HttpResponse.json({ version: 1, settings: {}, sources: {}, live: [] }),
    ),
    http.get(at('groups'), () => names('db', 'printer')),
    http.get(at('calendars'), () => names('closing', 'office')),
    http.post(at('schedules/preview'), () =>
      HttpResponse.json({ valid: true, errors: [], explanations: [], items: [], skipped: [], warnings: [] }),
    ),
  );
});

describe('the concurrency group of a job', () => {
  it('the group field offers all groups or none', async () => {
    show(job({ concurrency_group: 'db' }));
    const group = await select('Concurrency group');
    await screen.findByRole('option', { name: 'printer', hidden: true });
    expect([group.value, ...choices(group)]).toEqual(['db', 'None', 'db', 'printer']);
    type('Concurrency group', '');
    expect((await yaml()).concurrency_group).toBe('');
  });

  it('the group field keeps its value when the groups cannot be loaded', async () => {
    server.use(http.get(at('groups'), () => new HttpResponse(null, { status: 404 })));
    show(job({ concurrency_group: 'db' }));
    const group = await select('Concurrency group');
    expect([group.value, ...choices(group)]).toEqual(['db', 'None', 'db']);
  });
});

describe('a schedule', () => {
  it('a cron row offers calendar, blackout and parameters', async () => {
    await showRow({ kind: 'cron', cron_expression: '0 3 * * *', calendar: 'office' });
    const calendar = await select('Calendar of schedule 1');
    await screen.findAllByRole('option', { name: 'closing', hidden: true });
    expect([calendar.value, ...choices(calendar)]).toEqual(['office', 'None', 'closing', 'office']);
    expect(calendar.closest('details')!.open).toBe(true);
    type('Blackout of schedule 1', 'closing');
    type('Parameters of schedule 1', '{"mode": "full"}');
    expect((await yaml()).schedules).toEqual([
      {
        kind: 'cron',
        cron_expression: '0 3 * * *',
        time_zone: 'UTC',
        calendar: 'office',
        blackout: 'closing',
        parameters: { mode: 'full' },
      },
    ]);
  });

  it('a fixed-delay row offers no calendars', async () => {
    await showRow({ kind: 'delay', every_ms: 10_000, parameters: { n: 1 } });
    expect((await select('Delay of schedule 1 (seconds)')).value).toBe('10');
    expect(screen.queryByLabelText('Calendar of schedule 1')).toBeNull();
    expect(screen.queryByLabelText('Schedule 1 fires until')).toBeNull();
    type('Delay of schedule 1 (seconds)', '0.5');
    expect((await yaml()).schedules).toEqual([{ kind: 'delay', every_ms: 500, parameters: { n: 1 } }]);
  });

  it('the upstream field searches jobs by name or ID', async () => {
    const asked: (string | null)[] = [];
    server.use(
      http.get(at('jobs'), ({ request }) => {
        asked.push(new URL(request.url).searchParams.get('q'));
        return HttpResponse.json({
          items: [
            { job_id: 'backup', name: 'Backup' },
            { job_id: 'load', name: 'Load orders' },
          ],
          next_page_token: null,
        });
      }),
    );
    show(job({ schedules: [] }));
    await select('Trigger');
    type('Trigger', 'after');
    await waitFor(() =>
      expect([...document.querySelectorAll('datalist option[value=load]')]).toHaveLength(1),
    );
    // The job itself is not among them.
    expect(document.querySelector('datalist option[value=backup]')).toBeNull();
    screen.getByText('Type a name or an ID to search the jobs.');
    type('Upstream job (ID)', 'load');
    await screen.findByText('Job: Load orders');
    await screen.findByText('Starts after Load orders succeeds.');
    type('Starts on', 'failure');
    await screen.findByText('Starts after Load orders fails.');
    await waitFor(() => expect(asked).toContain('load'));
    screen.getByText(/^No fires are planned/);
    expect(screen.queryByText('No more fires')).toBeNull();
    expect((await yaml()).schedules).toEqual([{ kind: 'after', job: 'load', on: 'failure' }]);
  });

  it('an after-job row offers result and parameters', async () => {
    server.use(http.get(at('jobs'), () => HttpResponse.json({ items: [], next_page_token: null })));
    await showRow({ kind: 'after', job: 'load', on: 'done', parameters: { n: 1 } });
    await select('Schedule 1 starts on');
    type('Schedule 1 starts on', 'done');
    expect(screen.getByLabelText<HTMLInputElement>('Upstream job of schedule 1 (ID)').value).toBe('load');
    expect(screen.queryByLabelText('Schedule 1 fires until')).toBeNull();
    await screen.findByText('Starts after load succeeds or fails.');
    expect((await yaml()).schedules).toEqual([
      { kind: 'after', job: 'load', on: 'done', parameters: { n: 1 } },
    ]);
  });

  it('the trigger field turns a rate into a fixed delay', async () => {
    show(job({ schedules: [{ kind: 'rate', every_ms: 300_000 }] }));
    await select('Trigger');
    type('Trigger', 'delay');
    type('Delay after each run (seconds)', '10');
    expect((await yaml()).schedules).toEqual([{ kind: 'delay', every_ms: 10_000 }]);
  });
});

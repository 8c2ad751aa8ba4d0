import '../../../../test_support/texts';
import { QueryClientProvider } from '@tanstack/react-query';
import {
  RouterProvider,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
} from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { queryClient } from '../../../api/queries';
import type { Job } from '../../../api/types';
import { many, parseSearch, stringifySearch } from '../../../lib/search_params';
import { definitionFrom, definitionOf, fieldOf, valuesOf } from '../form/form_values';
import { DEFAULTS, formSchema } from '../form/form_schema';
import { JobEditor } from '../form/job_editor';
import { JobsPage } from './jobs_page';
import { filterOf } from '../../bulk/bulk';
import { HttpResponse, at, http, problem, server } from '../../../../test_support/server';

const job = {
  job_id: 'backup',
  name: 'Backup',
  namespace: 'payroll',
  type: 'shell',
  command: 'true',
  cron_expression: '0 3 * * *',
  schedules: [],
  time_zone: 'UTC',
  enabled: true,
  state: 'ENABLED',
  version: 3,
  notify: {},
  labels: {},
  user_id: 'user-1',
  next_fire_time: null,
  allowed_actions: ['edit'],
} as unknown as Job;
const withClient = (element: React.ReactElement) =>
  render(<QueryClientProvider client={queryClient}>{element}</QueryClientProvider>);
const issuesOf = (namespace: string) => {
  const result = formSchema.safeParse({ ...DEFAULTS, name: 'a', command: 'true', kind: 'manual', namespace });
  return result.success ? [] : result.error.issues.map((one) => one.message);
};
beforeEach(() => {
  queryClient.clear();
  localStorage.clear();
  server.use(
    http.get(at('system/config'), () =>
      HttpResponse.json({ version: 1, settings: {}, sources: {}, live: [] }),
    ),
    http.post(at('schedules/preview'), () =>
      HttpResponse.json({ valid: true, errors: [], explanations: [], items: [], warnings: [] }),
    ),
  );
});

describe('the namespace of a job', () => {
  it('the form returns a namespace unchanged, and an empty field means default', () => {
    const definition = definitionOf(job);
    expect(definition).not.toHaveProperty('allowed_actions');
    expect(definitionFrom(valuesOf(definition), definition).namespace).toBe('payroll');
    expect(definitionFrom(valuesOf({ name: 'a' }), { name: 'a' }).namespace).toBe('default');
    expect(definitionFrom({ ...DEFAULTS, name: 'a', namespace: ' etl ' }, {}).namespace).toBe('etl');
    // An empty field means the namespace "default". The request must say so: without the field the job would
    // stay in its namespace.
    expect(definitionFrom({ ...valuesOf(definition), namespace: '' }, definition).namespace).toBe('default');
  });

  it('a namespace consists of lower-case letters, digits and inner hyphens', () => {
    for (const good of ['', 'a', 'a-b', '9', 'a'.repeat(63)]) expect(issuesOf(good), good).toEqual([]);
    for (const bad of ['A', '-a', 'a-', 'a_b', 'a b', '*', 'a'.repeat(64)])
      expect(issuesOf(bad), bad).toEqual(['namespace']);
    expect(fieldOf('/namespace')).toBe('namespace');
  });

  function editor() {
    const router = createRouter({
      routeTree: createRootRoute({ component: () => <JobEditor start={definitionOf(job)} job={job} /> }),
      history: createMemoryHistory(),
    });
    withClient(<RouterProvider router={router as never} />);
  }

  it('the namespace field offers known namespaces and shows a refusal', async () => {
    server.use(
      http.put(at('jobs/backup'), () =>
        problem(403, 'out_of_reach', 'no', {
          errors: [
            {
              pointer: '/namespace',
              code: 'out_of_reach',
              detail: 'Nothing that is shared with you covers etl.',
            },
          ],
        }),
      ),
    );
    editor();
    const field = await screen.findByLabelText<HTMLInputElement>('Namespace');
    expect(field.value).toBe('payroll');
    await waitFor(() =>
      expect([...field.list!.options].map((one) => one.value)).toEqual(['default', 'payroll']),
    );
    fireEvent.change(field, { target: { value: 'etl' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await screen.findByText('Nothing that is shared with you covers etl.');
    expect(field.getAttribute('aria-invalid')).toBe('true');
    fireEvent.click(screen.getByRole('button', { name: 'YAML' }));
    expect(parse(screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'YAML' }).value)).toMatchObject({
      namespace: 'etl',
    });
  });

  it('a refused label opens the section that contains the field', async () => {
    server.use(
      http.put(at('jobs/backup'), () =>
        problem(403, 'out_of_reach', 'no', {
          errors: [
            {
              pointer: '/labels',
              code: 'out_of_reach',
              detail: 'Nothing that is shared with you covers it without team=etl.',
            },
          ],
        }),
      ),
    );
    editor();
    const box = (await screen.findByLabelText('Labels')).closest('details')!;
    expect(box.open).toBe(false);
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(box.open).toBe(true));
    expect(within(box).getByText(/covers it without/)).toBeTruthy();
  });
});

describe('the list of jobs', () => {
  function list(address: string) {
    const asked: string[] = [];
    server.use(
      http.get(at('jobs'), ({ request }) => {
        asked.push(new URL(request.url).searchParams.getAll('namespace').join());
        return HttpResponse.json({ items: [job], next_page_token: null });
      }),
    );
    const root = createRootRoute();
    const here = createRoute({
      getParentRoute: () => root,
      path: '/jobs',
      component: JobsPage,
      validateSearch: (search) => ({ namespace: many(search.namespace) }),
    });
    const router = createRouter({
      routeTree: root.addChildren([here]),
      parseSearch,
      stringifySearch,
      history: createMemoryHistory({ initialEntries: [address] }),
    });
    withClient(<RouterProvider router={router as never} />);
    return { asked, router };
  }

  it('the job list filters by the namespaces of its address', async () => {
    const { asked, router } = list('/jobs?namespace=payroll&namespace=etl');
    await screen.findByRole('link', { name: 'Backup' });
    expect(asked[0]).toBe('payroll,etl');
    const filter = await screen.findByLabelText<HTMLSelectElement>('Namespace');
    expect(filter.selectedOptions[0]!.textContent).toBe('payroll, etl');
    fireEvent.change(filter, { target: { value: 'payroll' } });
    await waitFor(() => expect(router.state.location.searchStr).toBe('?namespace=payroll'));
    await waitFor(() => expect(asked.at(-1)).toBe('payroll'));
    fireEvent.change(filter, { target: { value: '' } });
    await waitFor(() => expect(router.state.location.searchStr).toBe(''));
  });

  it('the job list has an optional namespace column', async () => {
    list('/jobs');
    await screen.findByRole('link', { name: 'Backup' });
    expect(screen.queryByRole('columnheader', { name: 'Namespace' })).toBeNull();
    localStorage.setItem('carillon.columns.job', '{"namespace":true}');
    list('/jobs');
    const header = await screen.findByRole('columnheader', { name: 'Namespace' });
    expect(header.closest('table')!.querySelector('[data-column=namespace]')!.textContent).toBe('payroll');
  });

  it('a bulk action on jobs uses the namespace filter', () =>
    expect(filterOf('job', { namespace: ['payroll', 'etl'] })).toEqual({
      q: '',
      namespace: ['payroll', 'etl'],
    }));
});

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
import { queryClient } from '../../../api/queries';
import { HttpResponse, at, http, problem, server } from '../../../../test_support/server';
import { ImportPage } from '../transfer/import_page';

interface Asked {
  query: string;
  namespaces: unknown[];
  ids: string[];
  key: string | null;
}
type Body = { job_id: string; namespace?: string }[];

const row = (id: string | null, more: object = {}) => ({
  source: 'row ' + (id ?? 'x'),
  verdict: id === null ? 'refused' : 'mapped',
  remarks: [],
  job_id: id,
  expression: '0 0 2 * * ?',
  next: ['2026-03-01T01:00:00.000000Z'],
  ...more,
});
const item = (index: number, id: string, result: string, more: object = {}) => ({
  index,
  job_id: id,
  name: id,
  result,
  version: result === 'created' || result === 'error' ? null : 3,
  changes: [],
  error: null,
  ...more,
});

describe('an import from another scheduler', () => {
  let converted: { kind: string; body: Record<string, unknown> }[];
  let asked: Asked[];
  let answer: () => Response;
  let applied: (jobs: Body) => Response;
  const imported = (ids: string[], rows: object[]) =>
    HttpResponse.json({
      jobs: ids.map((job_id) => ({ job_id, name: job_id, time_zone: 'Europe/Paris' })),
      rows,
    });
  const all = (jobs: Body, result: (id: string) => string = () => 'created') =>
    HttpResponse.json({
      dry_run: false,
      prune_complete: null,
      counts: {},
      items: jobs.map(({ job_id }, i) => item(i, job_id, result(job_id))),
    });

  beforeEach(() => {
    queryClient.clear();
    converted = [];
    asked = [];
    applied = (jobs) => all(jobs);
    server.use(
      http.post(at('imports/:kind'), async ({ request, params }) => {
        converted.push({
          kind: String(params.kind),
          body: (await request.json()) as Record<string, unknown>,
        });
        return answer();
      }),
      http.post(at('apply'), async ({ request }) => {
        const jobs = (await request.json()) as Body;
        asked.push({
          query: new URL(request.url).search,
          namespaces: jobs.map((job) => job.namespace),
          ids: jobs.map((job) => job.job_id),
          key: request.headers.get('Idempotency-Key'),
        });
        return applied(jobs);
      }),
    );
    const root = createRootRoute();
    const here = createRoute({ getParentRoute: () => root, path: '/import', component: ImportPage });
    const router = createRouter({
      routeTree: root.addChildren([here]),
      history: createMemoryHistory({ initialEntries: ['/import'] }),
    });
    render(
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>,
    );
  });

  const button = (name: string | RegExp) => screen.getByRole<HTMLButtonElement>('button', { name });
  const fill = (label: string, value: string) =>
    fireEvent.change(screen.getByLabelText(label), { target: { value } });
  const convert = async (kind = 'XXL-JOB') => {
    fireEvent.click(await screen.findByRole('button', { name: kind }));
    await screen.findByLabelText('Text');
    fill('Text', 'a dump');
    fill('Time zone', ' Europe/Paris ');
    fireEvent.click(button('Convert'));
    await screen.findByRole('table');
  };
  const status = (text: string) =>
    waitFor(() => expect(document.querySelector('p[role=status]')?.textContent).toBe(text));
  const bodyRows = () => [...document.querySelectorAll<HTMLElement>('tbody tr')]; // by role it takes seconds

  it('an import demands a time zone, and sends kind, zone and prefix', async () => {
    answer = () => imported(['a'], [row('a')]);
    fireEvent.click(await screen.findByRole('button', { name: 'Kubernetes CronJob' }));
    await screen.findByLabelText('Text');
    expect(screen.getByText('kubectl get cronjobs -A -o yaml')).toBeTruthy();
    fill('Text', 'kind: CronJob');
    expect(screen.getByLabelText<HTMLInputElement>('Time zone').value).toBe('');
    expect(button('Convert').disabled).toBe(true);
    fill('Time zone', 'Asia/Shanghai');
    fill('Prefix of the job IDs', 'k8s-');
    fireEvent.click(button('Convert'));
    await screen.findByRole('table');
    expect(converted).toEqual([
      { kind: 'cronjob', body: { text: 'kind: CronJob', time_zone: 'Asia/Shanghai', prefix: 'k8s-' } },
    ]);
    expect(asked).toEqual([]);
  });

  it('a crontab may name its users, and no other source', async () => {
    answer = () => imported(['a'], [row('a')]);
    fireEvent.click(await screen.findByRole('button', { name: 'crontab' }));
    fireEvent.click(await screen.findByRole('checkbox', { name: /A user stands before/ }));
    fill('Text', '* * * * * root true');
    fill('Time zone', 'UTC');
    fireEvent.click(button('Convert'));
    await screen.findByRole('table');
    expect(converted[0]!.body).toEqual({ text: '* * * * * root true', time_zone: 'UTC', system: true });
    fireEvent.click(button('systemd'));
    await waitFor(() => expect(screen.queryByRole('checkbox', { name: /A user stands before/ })).toBeNull());
  });

  it('chosen files are sent together with their names, until a text is pasted instead', async () => {
    answer = () => imported(['a'], [row('a')]);
    fireEvent.click(await screen.findByRole('button', { name: 'systemd' }));
    const files = [new File(['[Timer]'], 'a.timer'), new File(['[Service]'], 'a.service')];
    fireEvent.change(await screen.findByLabelText('Files'), { target: { files } });
    const paste = await screen.findByRole('button', { name: 'Paste text instead' });
    expect(screen.queryByLabelText('Text')).toBeNull();
    fill('Time zone', 'UTC');
    fireEvent.click(button('Convert'));
    await screen.findByRole('table');
    expect(converted[0]!.body.text).toBe('# /a.timer\n[Timer]\n# /a.service\n[Service]');
    fireEvent.click(paste);
    expect(screen.getByLabelText('Text')).toBeTruthy();
    expect(screen.queryByRole('table')).toBeNull();
    expect(button('Convert').disabled).toBe(true);
  });

  it('an import shows what the server refuses at the field', async () => {
    answer = () =>
      problem(400, 'invalid', 'no', {
        errors: [{ pointer: '/time_zone', code: 'invalid', detail: 'unknown zone' }],
      });
    fireEvent.click(await screen.findByRole('button', { name: 'crontab' }));
    await screen.findByLabelText('Text');
    fill('Text', '* * * * * true');
    fill('Time zone', 'Mars/Base');
    fireEvent.click(button('Convert'));
    await waitFor(() => expect(screen.getByLabelText('Time zone').getAttribute('aria-invalid')).toBe('true'));
  });

  it('a text above the limit is not sent, and names the command that takes it', async () => {
    fireEvent.click(await screen.findByRole('button', { name: 'crontab' }));
    await screen.findByLabelText('Text');
    fill('Text', '#'.repeat(8_000_001));
    fill('Time zone', 'UTC');
    fireEvent.click(button('Convert'));
    await screen.findByText(/carillon import crontab/);
    expect(converted).toEqual([]);
  });

  it('the report shows verdict, remarks, expression and our fires, and filters the refused', async () => {
    answer = () =>
      imported(
        ['a', 'b'],
        [
          row('a'),
          row('b', { verdict: 'remarked', remarks: ['SHARDING is ignored.'] }),
          row(null, { remarks: ['FIX_DELAY has no equivalent.'], expression: null, next: [] }),
        ],
      );
    await convert();
    expect(bodyRows()).toHaveLength(3);
    screen.getByText('SHARDING is ignored.');
    expect(screen.getAllByText('2026-03-01 02:00:00 +01:00')).toHaveLength(2);
    expect(screen.getAllByText('0 0 2 * * ?')).toHaveLength(2);
    fireEvent.click(button('Refused 1'));
    expect(bodyRows()).toHaveLength(1);
    screen.getByText('FIX_DELAY has no equivalent.');
    expect(button('Create 2 jobs').disabled).toBe(false);
  });

  it('thousands of rows are shown in parts and created in batches', async () => {
    const ids = Array.from({ length: 6000 }, (_, i) => 'j' + i);
    answer = () =>
      imported(
        ids,
        ids.map((id) => row(id)),
      );
    applied = (jobs) => all(jobs, (id) => (id === 'j7' ? 'unchanged' : 'created'));
    await convert();
    expect(bodyRows()).toHaveLength(200);
    screen.getByText('The first 200 of 6000');
    fireEvent.click(button('Show more'));
    expect(bodyRows()).toHaveLength(400);
    fireEvent.click(button('Create 6000 jobs'));
    await status('6000 of 6000: 5999 created, 1 already exist, 0 failed');
    expect(asked).toHaveLength(12);
    expect(asked.flatMap((one) => one.ids)).toEqual(ids);
    expect(new Set(asked.map((one) => one.query))).toEqual(new Set(['?only_new=true']));
    expect(within(bodyRows()[7]!).getByText('Already exists; unchanged')).toBeTruthy();
    expect(screen.getByText('Show these jobs')).toBeTruthy();
    expect(screen.queryByRole('button', { name: /^Create/ })).toBeNull();
  });

  it('a row that is not created is named with its reason', async () => {
    answer = () => imported(['a', 'b'], [row('a'), row('b')]);
    applied = (jobs) =>
      HttpResponse.json({
        dry_run: false,
        prune_complete: null,
        counts: {},
        items: jobs.map(({ job_id }, i) =>
          job_id === 'b'
            ? item(i, 'b', 'error', {
                error: { code: 'unknown_job', detail: 'There is no job c.', errors: [] },
              })
            : item(i, job_id, 'created'),
        ),
      });
    await convert();
    fireEvent.click(button('Create 2 jobs'));
    await status('2 of 2: 1 created, 0 already exist, 1 failed');
    expect(asked[0]!.ids).toEqual(['a', 'b']);
    fireEvent.click(button('Not created 1'));
    expect(bodyRows()).toHaveLength(1);
    within(bodyRows()[0]!).getByText('There is no job c.');
  });

  it('jobs are created in the chosen namespace, and what the server warns of is shown', async () => {
    answer = () => imported(['a', 'b'], [row('a'), row('b')]);
    const detail = 'Days 29 to 31 do not exist in each month.';
    applied = (jobs) =>
      HttpResponse.json({
        dry_run: false,
        prune_complete: null,
        counts: {},
        items: jobs.map(({ job_id }, i) =>
          item(i, job_id, 'created', i === 1 ? { warnings: [{ schedule: 0, code: 'skips', detail }] } : {}),
        ),
      });
    fireEvent.click(await screen.findByRole('button', { name: 'XXL-JOB' }));
    await screen.findByLabelText('Text');
    fill('Namespace', 'shop');
    await convert();
    fireEvent.click(button('Create 2 jobs'));
    await status('2 of 2: 2 created, 0 already exist, 0 failed');
    expect(asked[0]!.namespaces).toEqual(['shop', 'shop']);
    fireEvent.click(button('With warnings 1'));
    expect(bodyRows()).toHaveLength(1);
    within(bodyRows()[0]!).getByText(detail);
  });

  it('a creation continues after a lost answer with the same key', async () => {
    answer = () => imported(['a'], [row('a')]);
    let lost = false;
    applied = (jobs) => {
      if (lost) return all(jobs);
      lost = true;
      return HttpResponse.error();
    };
    await convert();
    fireEvent.click(button('Create 1 job'));
    await screen.findByText('The server is not responding.');
    fireEvent.click(await screen.findByRole('button', { name: 'Continue' }));
    await status('1 of 1: 1 created, 0 already exist, 0 failed');
    expect(asked).toHaveLength(2);
    expect(asked[0]!.key).toBeTruthy();
    expect(asked[1]!.key).toBe(asked[0]!.key);
  });
});

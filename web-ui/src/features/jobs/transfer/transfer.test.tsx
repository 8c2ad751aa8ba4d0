import { QueryClientProvider } from '@tanstack/react-query';
import {
  RouterProvider,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
} from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { queryClient } from '../../../api/queries';
import type { Job } from '../../../api/types';
import { yamlOfJobs } from './export_values';
import { ImportPage } from './import_page';
import { asSeen, queryOf, readJobs, type Applied } from './import_values';
import { HttpResponse, at, http, problem, server } from '../../../../test_support/server';

const wrongOf = (text: string) => {
  const read = readJobs(text);
  return 'wrong' in read ? read.wrong.key : read.jobs.length;
};

describe('a file of jobs', () => {
  it('an import accepts a job, a list, a jobs key, several documents and JSON', () => {
    const a = { name: 'a', command: 'true' };
    for (const text of [
      'name: a\ncommand: "true"',
      '- name: a\n  command: "true"',
      'jobs:\n- name: a\n  command: "true"',
      '[{"name":"a","command":"true"}]',
      '---\n\n---\nname: a\ncommand: "true"\n',
    ]) {
      expect(readJobs(text), text).toEqual({ jobs: [a] });
    }
    expect(wrongOf('name: a\n---\n- name: b\n- name: c\n')).toBe(3);
  });

  it('an import reports the line that cannot be read', () => {
    expect(readJobs('name: a\nname: b\n')).toMatchObject({
      wrong: { key: 'import.unreadable', values: { line: 2 } },
    });
    expect(readJobs('name: a\ncron_expression: */5 * * * *\n')).toMatchObject({
      wrong: { key: 'import.unquoted', values: { line: 2, quoted: "'*/5 * * * *'" } },
    });
    expect(wrongOf('- name: a\n- 7\n')).toBe('import.no_job');
    expect(wrongOf('')).toBe('import.empty');
    expect(wrongOf('[]')).toBe('import.empty');
    expect(wrongOf('x'.repeat(1_000_001))).toBe('import.too_big');
    expect(wrongOf(JSON.stringify(Array.from({ length: 501 }, () => ({ name: 'a' }))))).toBe(
      'import.too_many',
    );
  });

  it('an import prunes only within a namespace', () => {
    expect(queryOf({ namespace: ' ', prune: true, selector: 'a' })).toEqual({});
    expect(queryOf({ namespace: 'x', prune: false, selector: 'a' })).toEqual({ namespace: 'x' });
    expect(queryOf({ namespace: 'x', prune: true, selector: ' a ' })).toEqual({
      namespace: 'x',
      prune: 'true',
      selector: 'a',
    });
  });

  it('an import is applied to the versions that were previewed', () => {
    const seen = {
      items: [
        { index: 1, version: 4 },
        { index: 0, version: null },
        { index: null, version: 2 },
        { index: 2, version: 9 },
      ],
    } as Applied;
    expect(asSeen([{ name: 'new' }, { name: 'old' }, { name: 'own', version: 3 }], seen)).toEqual([
      { name: 'new' },
      { name: 'old', version: 4 },
      { name: 'own', version: 3 },
    ]);
  });
});

it('an export leaves out defaults and the owner', () => {
  const job = {
    job_id: 'a',
    name: 'A',
    namespace: 'default',
    type: 'shell',
    command: 'echo\nx',
    cron_expression: '0 3 * * *',
    time_zone: 'Asia/Tokyo',
    user_id: 'u',
    version: 4,
    schedules: [{ kind: 'cron', cron_expression: '0 3 * * *', time_zone: 'Asia/Tokyo', schedule_id: 1 }],
    enabled: true,
    state: 'ENABLED',
    next_fire_time: null,
    labels: { team: 'etl' },
    retry_intervals: [],
    priority: 7,
    overlap_policy: 'queue_all',
    max_running: 1,
    queue_max: 5,
    allowed_actions: [],
    of_a_later_version: 1,
  } as unknown as Job;
  const several = {
    ...job,
    cron_expression: null,
    time_zone: 'UTC',
    schedules: [
      { kind: 'cron', cron_expression: '0 3 * * *', time_zone: 'UTC' },
      { kind: 'rate', every_ms: 5000, start_time: '1970-01-01T00:00:00.000000Z' },
    ],
  } as unknown as Job;
  const [one, two] = parseAllDocuments(yamlOfJobs([job, several])).map(
    (document) => document.toJS() as Record<string, unknown>,
  );
  expect(one).toEqual({
    job_id: 'a',
    name: 'A',
    labels: { team: 'etl' },
    command: 'echo\nx',
    cron_expression: '0 3 * * *',
    time_zone: 'Asia/Tokyo',
    of_a_later_version: 1,
    overlap_policy: 'queue_all',
    priority: 7,
    queue_max: 5,
  });
  expect(Object.keys(one!)).toEqual([
    'job_id',
    'name',
    'labels',
    'command',
    'cron_expression',
    'time_zone',
    'of_a_later_version',
    'overlap_policy',
    'priority',
    'queue_max',
  ]);
  expect(two!.schedules).toEqual([
    { kind: 'cron', cron_expression: '0 3 * * *' },
    { kind: 'rate', every_ms: 5000 },
  ]);
  expect(yamlOfJobs([job])).toMatch(/^---\njob_id: a\n/);
});

describe('the page', () => {
  interface Asked {
    query: string;
    body: unknown;
    key: string | null;
  }
  let asked: Asked[];
  let answers: (() => Response)[];
  const item = (more: object) => ({
    index: 0,
    job_id: 'a',
    name: 'A',
    result: 'updated',
    version: 4,
    changes: [{ path: '/timeout', from: 60, to: 90 }],
    error: null,
    ...more,
  });
  const answer = (dry_run: boolean, items: object[], counts: object) =>
    HttpResponse.json({ dry_run, items, counts, prune_complete: null });
  beforeEach(() => {
    queryClient.clear();
    asked = [];
    answers = [];
    server.use(
      http.post(at('apply'), async ({ request }) => {
        asked.push({
          query: new URL(request.url).searchParams.toString(),
          body: await request.json(),
          key: request.headers.get('Idempotency-Key'),
        });
        return answers.shift()!();
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
  const type = async (text: string) =>
    fireEvent.change(await screen.findByLabelText('Jobs'), { target: { value: text } });
  const look = () => fireEvent.click(screen.getByRole('button', { name: 'Preview changes' }));
  const applyButton = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Apply' });

  it('the import page applies what was previewed, and needs a new preview after a change', async () => {
    answers.push(
      () => answer(true, [item({})], { updated: 1, created: 0 }),
      () => answer(true, [item({})], { updated: 1 }),
      () =>
        answer(
          false,
          [
            item({
              result: 'error',
              changes: [],
              error: { code: 'stale_version', detail: 'It is at 5.', errors: [] },
            }),
          ],
          { error: 1 },
        ),
    );
    await type('job_id: a\ntimeout: 90');
    expect(applyButton().disabled).toBe(true);
    look();
    await screen.findByText('1 updated');
    screen.getByText('/timeout');
    expect(applyButton().disabled).toBe(false);
    await type('job_id: a\ntimeout: 91');
    expect(applyButton().disabled).toBe(true);
    expect(screen.queryByText('1 updated')).toBeNull();
    look();
    await waitFor(() => expect(applyButton().disabled).toBe(false));
    fireEvent.click(applyButton());
    await screen.findByText('1 rejected');
    screen.getByText('It is at 5.');
    expect(applyButton().disabled).toBe(true);
    expect(asked.map((one) => one.query)).toEqual(['dry_run=true', 'dry_run=true', '']);
    expect(asked[2]!.body).toEqual([{ job_id: 'a', timeout: 91, version: 4 }]);
    expect(asked[2]!.key).toBeTruthy();
  });

  it('the import page repeats its key after no answer', async () => {
    answers.push(
      () => answer(true, [item({})], { updated: 1 }),
      () => HttpResponse.error(),
      () => answer(false, [item({})], { updated: 1 }),
    );
    await type('job_id: a');
    look();
    await waitFor(() => expect(applyButton().disabled).toBe(false));
    fireEvent.click(applyButton());
    await screen.findByText('The server is not responding.');
    fireEvent.click(applyButton());
    await screen.findByText('1 updated');
    await waitFor(() => expect(asked.length).toBe(3));
    expect(asked[1]!.key).toBe(asked[2]!.key);
  });

  it('the import page prunes only with a namespace, and shows a refusal of it', async () => {
    answers.push(() =>
      problem(400, 'invalid', 'no', {
        errors: [{ pointer: '?selector', code: 'missing', detail: 'a selector is needed' }],
      }),
    );
    await type('job_id: a');
    const prune = screen.getByRole<HTMLInputElement>('checkbox');
    expect(prune.disabled).toBe(true);
    fireEvent.change(screen.getByLabelText('Namespace'), { target: { value: 'payroll' } });
    fireEvent.click(prune);
    expect(screen.getByLabelText('Delete only jobs with these labels')).toBeTruthy();
    look();
    await waitFor(() =>
      expect(screen.getByLabelText('Delete only jobs with these labels').getAttribute('aria-invalid')).toBe(
        'true',
      ),
    );
    expect(asked[0]!.query).toBe(
      'namespace=payroll&prune=true&selector=&dry_run=true'.replace('selector=&', ''),
    );
  });

  it('the import page shows the unreadable line and sends nothing', async () => {
    await type('a: [');
    look();
    await screen.findByText(/^Line \d+: /);
    expect(asked).toEqual([]);
  });
});

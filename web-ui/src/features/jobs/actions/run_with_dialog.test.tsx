import { QueryClientProvider } from '@tanstack/react-query';
import {
  RouterProvider,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
} from '@tanstack/react-router';
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { queryClient } from '../../../api/queries';
import type { Job, Run } from '../../../api/types';
import RunWithDialog from './run_with_dialog';
import { mustAsk } from './must_ask';
import { bodyOf, pointersOf, startOf, wrongIn } from './run_with_values';
import { HttpResponse, at, http, problem, server } from '../../../../test_support/server';
import '../../../ui/dialogs/modal_dialog';

const job = {
  job_id: 'backup',
  name: 'Backup',
  state: 'ENABLED',
  parameters: { full: false, day: 1 },
  priority: 5,
  executor_id: '',
  executor_selector: 'zone = a',
} as unknown as Job;
const run = {
  run_id: 'r1',
  job_id: 'backup',
  job_name: 'Backup',
  parameters: { full: true, only: 'x' },
  priority: 70,
  executor_id: 'host-1',
} as unknown as Run;

describe('the values of a run', () => {
  it('the values of a run begin with the job’s, overridden by those of the given run', () => {
    expect(JSON.parse(startOf(job).parameters)).toEqual({ full: false, day: 1 });
    expect(startOf(job).priority).toBe('5');
    expect(JSON.parse(startOf(job, run).parameters)).toEqual({ full: true, day: 1, only: 'x' });
    expect(startOf(job, run)).toMatchObject({ priority: '70', executor_id: '' });
    expect(startOf({ ...job, parameters: {} }).parameters).toBe('');
  });

  it('the request of a run contains only what differs from the job', () => {
    expect(bodyOf(startOf(job), job)).toEqual({});
    expect(bodyOf(startOf(job, run), job)).toEqual({ parameters: { full: true, only: 'x' }, priority: 70 });
    expect(
      bodyOf({ ruled: {}, parameters: '{"full":false,"day":2}', executor_id: 'host-2', priority: '' }, job),
    ).toEqual({ parameters: { day: 2 }, executor_id: 'host-2' });
  });

  it('the run form refuses values that the server would ignore or refuse', () => {
    const wrong = (change: object) => wrongIn({ ...startOf(job), ...change }, job);
    expect(wrong({})).toEqual({});
    expect(wrong({ parameters: '{"full":' }).parameters?.key).toBe('run_with.no_object');
    expect(wrong({ parameters: '{"day":1}' }).parameters).toEqual({ key: 'run_with.kept', names: 'full' });
    for (const priority of ['101', '-1', '1.5', 'x'])
      expect(wrong({ priority }).priority?.key, priority).toBe('run_with.whole');
    expect(wrong({ priority: ' ' })).toEqual({});
  });

  it('the run form has a pointer for each parameter', () =>
    expect(pointersOf({ ...startOf(job), parameters: '{"a/b":1}' })).toEqual([
      '/parameters',
      '/parameters/a~1b',
    ]));
});

const ruledJob = {
  ...job,
  parameters: { rows: 100, full: false, label: 'x' },
  parameter_rules: {
    day: { type: 'string', description: 'The day to export', choices: ['monday', 'friday'], required: true },
    full: { type: 'boolean', description: '', choices: [], required: false },
    rows: { type: 'integer', description: '', choices: [], required: false },
    share: { type: 'number', description: '', choices: [], required: false },
  },
} as unknown as Job;

describe('parameters with rules', () => {
  const start = startOf(ruledJob);
  const wrong = (ruled: object) => wrongIn({ ...start, ruled: { ...start.ruled, ...ruled } }, ruledJob).ruled;
  const body = (ruled: object) =>
    bodyOf({ ...start, ruled: { ...start.ruled, ...ruled } }, ruledJob).parameters;

  it('parameters with rules begin with their defaults, apart from free ones', () => {
    expect(start.ruled).toEqual({ day: '', full: 'false', rows: '100', share: '' });
    expect(JSON.parse(start.parameters)).toEqual({ label: 'x' });
    const again = startOf(ruledJob, { ...run, parameters: { day: 'friday', share: 1.5 } } as Run);
    expect(again.ruled).toMatchObject({ day: 'friday', share: '1.5' });
  });

  it('parameters with rules are sent with their types when they differ from the job', () => {
    expect(body({ day: 'friday' })).toEqual({ day: 'friday' });
    expect(body({ day: 'friday', full: 'true', rows: '7', share: '0.5' })).toEqual({
      day: 'friday',
      full: true,
      rows: 7,
      share: 0.5,
    });
    expect(body({ day: 'friday', rows: '' })).toEqual({ day: 'friday' });
  });

  it('parameters with rules are validated', () => {
    expect(wrong({ day: 'friday' })).toBeUndefined();
    expect(wrong({})).toEqual({ day: { key: 'run_with.required' } });
    expect(wrong({ day: 'sunday' })).toEqual({ day: { key: 'run_with.no_choice' } });
    expect(wrong({ day: 'friday', rows: '1.5' })).toEqual({ rows: { key: 'run_with.of_integer' } });
    expect(wrong({ day: 'friday', share: 'x' })).toEqual({ share: { key: 'run_with.of_number' } });
    expect(wrongIn({ ...start, parameters: '{"label":"y","rows":1}' }, ruledJob).parameters).toEqual({
      key: 'run_with.has_field',
      names: 'rows',
    });
  });

  it('a required parameter makes the dialog necessary', () => {
    expect(mustAsk(ruledJob)).toBe(true);
    expect(mustAsk(job)).toBe(false);
  });
});

describe('the dialog', () => {
  interface Asked {
    body: unknown;
    key: string | null;
  }
  let asked: Asked[];
  let answers: (() => Response)[];
  beforeEach(() => {
    queryClient.clear();
    asked = [];
    answers = [];
    server.use(
      http.get(at('jobs/backup'), () => HttpResponse.json(job)),
      http.get(at('executors'), () =>
        HttpResponse.json({
          items: [
            { executor_id: 'host-1', state: 'ONLINE' },
            { executor_id: 'host-2', state: 'OFFLINE' },
          ],
          next_page_token: null,
        }),
      ),
      http.post(at('jobs/backup/execute'), async ({ request }) => {
        asked.push({ body: await request.json(), key: request.headers.get('Idempotency-Key') });
        return answers.shift()?.() ?? HttpResponse.json({ run_id: 'r2' }, { status: 202 });
      }),
    );
  });

  function open(of?: Run) {
    const root = createRootRoute();
    const here = createRoute({
      getParentRoute: () => root,
      path: '/',
      component: () => <RunWithDialog jobId="backup" name="Backup" run={of} onClose={() => {}} />,
    });
    const there = createRoute({ getParentRoute: () => root, path: '/runs/$id' });
    const router = createRouter({
      routeTree: root.addChildren([here, there]),
      history: createMemoryHistory(),
    });
    render(
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>,
    );
    return router;
  }
  const field = <T extends HTMLElement>(label: string) => screen.findByLabelText<T>(label);
  const submit = () => fireEvent.click(screen.getByRole('button', { name: 'Run' }));

  it('the run dialog sends the changes and opens the run', async () => {
    const router = open();
    fireEvent.change(await field('Parameters'), { target: { value: '{"full": true, "day": 1}' } });
    await screen.findByRole('option', { name: 'host-2 (Offline)' });
    expect(screen.getByRole('option', { name: 'Job default: any executor with zone = a' })).toBeTruthy();
    fireEvent.change(await field('Executor'), { target: { value: 'host-1' } });
    submit();
    await waitFor(() => expect(router.state.location.pathname).toBe('/runs/r2'));
    expect(asked.map((one) => one.body)).toEqual([{ parameters: { full: true }, executor_id: 'host-1' }]);
  });

  it('the run dialog offers an executor only where the server takes one, and says why', async () => {
    for (const [change, why] of [
      [{ shards: { total: 4 } }, /each shard gets its own/],
      [{ broadcast: { wait_s: 60 } }, /each shard gets its own/],
      [{ type: 'workflow' }, /each node gets its own/],
    ] as const) {
      queryClient.clear();
      server.use(http.get(at('jobs/backup'), () => HttpResponse.json({ ...job, ...change })));
      open();
      await screen.findByText(why);
      expect(screen.queryByLabelText('Executor')).toBeNull();
      cleanup();
    }
  });

  it('the run dialog shows refusals at their fields and sends no invalid values', async () => {
    answers.push(() =>
      problem(400, 'invalid', 'no', {
        errors: [{ pointer: '/executor_id', code: 'unknown_executor', detail: 'gone' }],
      }),
    );
    answers.push(() =>
      problem(400, 'invalid', 'no', {
        errors: [{ pointer: '/parameters/day', code: 'invalid', detail: 'no list' }],
      }),
    );
    open(run);
    fireEvent.change(await field('Parameters'), { target: { value: '[]' } });
    submit();
    await screen.findByText('Must be a JSON object.');
    expect(asked).toEqual([]);
    fireEvent.change(await field('Parameters'), { target: { value: '{"full": false, "day": [1]}' } });
    submit();
    await waitFor(async () => expect((await field('Executor')).getAttribute('aria-invalid')).toBe('true'));
    submit();
    await waitFor(async () => expect((await field('Parameters')).getAttribute('aria-invalid')).toBe('true'));
    expect(asked[0]!.key).not.toBe(asked[1]!.key);
  });

  it('the run dialog repeats its key after no answer, and uses a new one for other values', async () => {
    answers.push(
      () => HttpResponse.error(),
      () => HttpResponse.error(),
    );
    open();
    await field('Parameters');
    submit();
    await waitFor(() => expect(asked.length).toBe(1));
    await screen.findByText('The server is not responding.');
    submit();
    await waitFor(() => expect(asked.length).toBe(2));
    await screen.findByText('The server is not responding.');
    fireEvent.change(await field('Priority'), { target: { value: '9' } });
    submit();
    await waitFor(() => expect(asked.length).toBe(3));
    expect(asked[0]!.key).toBe(asked[1]!.key);
    expect(asked[2]!.key).not.toBe(asked[0]!.key);
  });

  it('the run dialog has a field for each parameter with a rule', async () => {
    server.use(http.get(at('jobs/backup'), () => HttpResponse.json(ruledJob)));
    answers.push(() =>
      problem(400, 'invalid', 'no', {
        errors: [{ pointer: '/parameters/rows', code: 'invalid', detail: 'too many rows' }],
      }),
    );
    open();
    const day = await field<HTMLSelectElement>('day (required)');
    screen.getByText('The day to export');
    expect((await field<HTMLInputElement>('rows')).value).toBe('100');
    expect((await field<HTMLInputElement>('full')).checked).toBe(false);
    await field('Other parameters');
    submit();
    await screen.findByText('This run needs a value.');
    expect(asked).toEqual([]);
    fireEvent.change(day, { target: { value: 'monday' } });
    fireEvent.click(await field('full'));
    fireEvent.change(await field('rows'), { target: { value: '5000' } });
    submit();
    await screen.findByText('too many rows');
    expect(asked.map((one) => one.body)).toEqual([{ parameters: { day: 'monday', full: true, rows: 5000 } }]);
  });
});

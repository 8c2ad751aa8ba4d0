import { QueryClientProvider } from '@tanstack/react-query';
import {
  RouterProvider,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
} from '@tanstack/react-router';
import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import i18next from 'i18next';
import { beforeEach, describe, expect, it } from 'vitest';
import { queryClient } from '../../../api/queries';
import type { Attempt, Run } from '../../../api/types';
import { parseSearch, stringifySearch } from '../../../lib/search_params';
import { attemptsOf } from './attempts_of';
import { attemptToShow, timeline } from './run_text';
import { RunPage } from './run_page';
import { clockTime } from '../../../lib/format';
import { ordinal } from '../../../lib/ordinal';
import { setPreferences } from '../../../lib/preferences';
import { HttpResponse, at, http, problem, server } from '../../../../test_support/server';
import '../../../ui/dialogs/modal_dialog';
import '../waiting/release';
import '../../lists/runs/release_dialog';

const SLOW_MS = 60_000; // ms; the first test of a file also loads the page's parts

const attempt = (n: number, more: Partial<Attempt> = {}) =>
  ({
    attempt: n,
    state: 'FAILED',
    executor_id: 'local',
    reason: 'exit_code',
    claimed_at: '2026-03-01T02:00:00Z',
    started_at: '2026-03-01T02:00:00Z',
    ended_at: '2026-03-01T02:00:03Z',
    exit_code: 7,
    error: 'exit code 7',
    output: 'no such host',
    ...more,
  }) as Attempt;

const waiting = (more: Partial<Run> = {}) =>
  ({
    run_id: 'r1',
    job_id: 'backup',
    job_name: 'Backup',
    kind: 'cron',
    fire_time: '2026-03-01T02:00:00Z',
    due_at: new Date(Date.now() + 3_600_000).toISOString(),
    state: 'PENDING',
    reason: null,
    attempt: 2,
    executor_id: null,
    planned_at: null,
    claimed_at: null,
    started_at: null,
    ended_at: null,
    exit_code: null,
    error: null,
    attempts: [attempt(1)],
    priority: 5,
    job_version: 1,
    cancel_requested: false,
    waiting: { code: 'not_due', detail: 'Due at 2026-03-01 03:00:03 UTC.' },
    ...more,
  }) as Run;

async function open() {
  const root = createRootRoute();
  const here = createRoute({ getParentRoute: () => root, path: '/runs/$id', component: RunPage });
  const router = createRouter({
    routeTree: root.addChildren([here]),
    parseSearch,
    stringifySearch,
    history: createMemoryHistory({ initialEntries: ['/runs/r1'] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
}

describe('a run that waits for its retry', () => {
  let now: Run;
  let logs: (string | null)[];
  beforeEach(() => {
    queryClient.clear();
    now = waiting();
    logs = [];
    server.use(
      http.get(at('runs/r1'), () => HttpResponse.json(now)),
      http.get(at('jobs/backup'), () => HttpResponse.json({ job_id: 'backup', retry_count: 2 })),
      http.get(at('runs/r1/logs/stream'), ({ request }) => {
        logs.push(new URL(request.url).searchParams.get('attempt'));
        return new HttpResponse('event: end\ndata: {"complete": true}\n\n', {
          headers: { 'Content-Type': 'text/event-stream' },
        });
      }),
    );
  });

  it('a waiting run names the failed attempt, its reason and the next start', async () => {
    await open();
    const said = await screen.findByText(
      /^Attempt 1 of 3 failed: exit code 7\. Retrying in /,
      {},
      { timeout: SLOW_MS },
    );
    expect(said.textContent).toMatch(/Retrying in (1 h|59 min [\d]+ s) \([^)]*\d\d:\d\d:\d\d\)\.$/);
    expect(document.body.textContent).not.toMatch(/Due at/);
  });

  it('a waiting run shows its attempts and the last output', async () => {
    await open();
    const attempts = await screen.findByRole('table');
    expect(within(attempts).getByRole('link', { name: 'Attempt 1' }).getAttribute('aria-current')).toBe(
      'true',
    );
    expect(within(attempts).getByText('Pending')).toBeTruthy();
    expect(screen.getByRole('heading', { name: /Output.*Attempt 1/ })).toBeTruthy();
    await waitFor(() => expect(logs).toEqual(['1']));
  });

  it('a waiting run of a paused job says that it waits for the resume', async () => {
    now = waiting({ due_at: null, waiting: { code: 'paused', detail: 'The job is paused.' } });
    await open();
    await screen.findByText(/exit code 7\. The next attempt starts when the job is resumed\.$/);
  });

  it('a waiting run is retried now, once, by one button', async () => {
    const keys: (string | null)[] = [];
    server.use(
      http.post(at('runs/r1/retry'), ({ request }) => {
        keys.push(request.headers.get('Idempotency-Key'));
        now = waiting({
          due_at: new Date().toISOString(),
          waiting: { code: 'no_executor', detail: 'None.' },
        });
        return HttpResponse.json(now, { status: 202 });
      }),
    );
    await open();
    fireEvent.click(await screen.findByRole('button', { name: 'Retry now' }, { timeout: SLOW_MS }));
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Retry now' })).toBeNull());
    expect(keys.length).toBe(1);
    expect(keys[0]).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Retry' })).toBeNull();
  });

  it('a run on its first attempt offers no retry', async () => {
    now = waiting({ attempt: 1, attempts: [] });
    await open();
    await screen.findByRole('button', { name: 'Cancel run' }, { timeout: SLOW_MS });
    expect(screen.queryByRole('button', { name: 'Retry now' })).toBeNull();
  });

  it('a waiting run names the reason when there is no exit code', async () => {
    now = waiting({
      attempts: [attempt(1, { state: 'TIMED_OUT', reason: 'timeout', exit_code: null })],
    });
    await open();
    await screen.findByText(/^Attempt 1 of 3 failed: Timeout exceeded\. Retrying in /);
  });
});

describe('a run that waits for a slot of its job', () => {
  const queued = (more: object = {}) =>
    waiting({
      attempt: 1,
      attempts: [],
      due_at: null,
      waiting: {
        code: 'slot',
        detail: 'Waits for a slot, 3rd of 7 in the queue of its job; 2 of 2 slots are in use.',
        ...more,
      },
    });
  const place = { position: 3, length: 7, since: '2026-03-01T02:00:00Z' };
  const show = async (run: Run) => {
    queryClient.clear();
    server.use(
      http.get(at('runs/r1'), () => HttpResponse.json(run)),
      http.get(
        at('runs/r1/logs/stream'),
        () =>
          new HttpResponse('event: end\ndata: {"complete": true}\n\n', {
            headers: { 'Content-Type': 'text/event-stream' },
          }),
      ),
    );
    await open();
  };
  const speak = async (language: 'en' | 'zh-CN') => {
    const spoken = new Promise<void>((resolve) => {
      if (i18next.language === language) resolve();
      else i18next.on('languageChanged', () => resolve());
    });
    setPreferences({ language });
    await spoken;
  };

  it('a queued run shows its place and links to the queue', async () => {
    await show(queued(place));
    const said = await screen.findByText(
      /^Waits for a slot, 3rd of 7 in the queue/,
      {},
      { timeout: SLOW_MS },
    );
    expect(within(said).getByRole('link', { name: 'View the queue' }).getAttribute('href')).toBe(
      '/jobs/backup',
    );
    expect(screen.queryByRole('button', { name: 'Retry now' })).toBeNull();
  });

  it('a queued run shows the server’s text when its place is unknown', async () => {
    await show(queued({ detail: 'Waits for a slot of its job.' }));
    await screen.findByText('Waits for a slot of its job.', {}, { timeout: SLOW_MS });
  });

  it('a queued run shows its place in Chinese', async () => {
    await speak('zh-CN');
    try {
      await show(queued(place));
      const said = await screen.findByText(/第 3 位，共 7 个/, {}, { timeout: SLOW_MS });
      expect(said.textContent).not.toMatch(/Waits/);
    } finally {
      await speak('en');
    }
  });

  it('a run queued in a group shows its place and links to the group', async () => {
    const since = place.since;
    const waits = { code: 'group', group: 'db', detail: 'No slot.', position: 3, since };
    await show(queued({ ...waits, length: 7 }));
    const said = await screen.findByText(
      /^Waits for a slot of group db, 3rd of 7, since/,
      {},
      { timeout: SLOW_MS },
    );
    expect(within(said).getByRole('link', { name: 'View the group' }).getAttribute('href')).toBe(
      '/groups/db',
    );
    cleanup();
    await show(queued(waits));
    await screen.findByText(/^Waits for a slot of group db, 3rd, since/, {}, { timeout: SLOW_MS });
  });

  it('ordinal numbers have their English suffixes', () => {
    expect([1, 2, 3, 4, 11, 12, 13, 21, 102, 111].map(ordinal).join(' ')).toBe(
      '1st 2nd 3rd 4th 11th 12th 13th 21st 102nd 111th',
    );
  });
});

describe('a run that waits for runs of other jobs', () => {
  const detail = 'Waits for load of 2026-03-01 02:00 (run r0, FAILED), until 2026-03-01 06:00.';
  const show = (more: Partial<Run>) => {
    queryClient.clear();
    const waits = { code: 'upstream_run' as const, detail };
    server.use(
      http.get(at('runs/r1'), () =>
        HttpResponse.json(waiting({ attempt: 1, attempts: [], due_at: null, waiting: waits, ...more })),
      ),
      http.get(
        at('runs/r1/logs/stream'),
        () =>
          new HttpResponse('event: end\ndata: {"complete": true}\n\n', {
            headers: { 'Content-Type': 'text/event-stream' },
          }),
      ),
    );
    return open();
  };

  it('a run says for which run it waits, and a person releases it with a reason', async () => {
    const sent: unknown[] = [];
    server.use(
      http.post(at('runs/r1/release'), async ({ request }) => {
        sent.push(await request.json());
        return HttpResponse.json({ run_id: 'r1' }, { status: 202 });
      }),
    );
    await show({ allowed_actions: ['cancel', 'release'] });
    await screen.findByText(detail, {}, { timeout: SLOW_MS });
    fireEvent.click(await screen.findByRole('button', { name: 'Release' }));
    const dialog = await screen.findByRole('dialog', { name: 'Release this run?' });
    fireEvent.change(within(dialog).getByLabelText('Reason (optional)'), { target: { value: 'checked' } });
    fireEvent.click(within(dialog).getByRole('button', { name: 'Release' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(sent).toEqual([{ reason: 'checked' }]);
  });

  it('a release without a reason sends none, and its refusal is told', async () => {
    const sent: unknown[] = [];
    server.use(
      http.post(at('runs/r1/release'), async ({ request }) => {
        sent.push(await request.json());
        return problem(409, 'not_waiting', 'The run waits no longer.');
      }),
    );
    await show({ allowed_actions: ['cancel', 'release'] });
    fireEvent.click(await screen.findByRole('button', { name: 'Release' }, { timeout: SLOW_MS }));
    const dialog = await screen.findByRole('dialog');
    fireEvent.click(within(dialog).getByRole('button', { name: 'Release' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(sent).toEqual([{}]);
  });

  it('a run that waits for something else offers no release', async () => {
    await show({ allowed_actions: ['cancel'], waiting: { code: 'no_room', detail: 'All are full.' } });
    await screen.findByText('All are full.', {}, { timeout: SLOW_MS });
    expect(screen.queryByRole('button', { name: 'Release' })).toBeNull();
  });
});

describe('the output shown', () => {
  it('the output shown is that of the last attempt once it has begun', () => {
    const second = attempt(2, { ended_at: null, state: 'RUNNING', output: '' });
    const run = waiting({ state: 'RUNNING', claimed_at: 'x', attempts: [attempt(1), second] });
    expect(attemptToShow(run)).toBe(2);
  });
  it('the output shown is that of the last attempt that wrote something', () => {
    expect(attemptToShow(waiting())).toBe(1);
    expect(attemptToShow(waiting({ attempt: 3, attempts: [attempt(1), attempt(2, { output: '' })] }))).toBe(
      1,
    );
    expect(
      attemptToShow(
        waiting({ attempt: 3, attempts: [attempt(1, { output: '' }), attempt(2, { output: '' })] }),
      ),
    ).toBe(2);
    expect(attemptToShow(waiting({ attempt: 1, attempts: [] }))).toBe(1);
  });
  it('the output shown stays the previous one when a waiting attempt is cancelled', () => {
    expect(attemptToShow(waiting({ state: 'CANCELLED' }))).toBe(1);
  });
});

it('a waiting attempt is listed among the attempts', () => {
  expect(attemptsOf(waiting()).map((one) => [one.attempt, one.state])).toEqual([
    [1, 'FAILED'],
    [2, 'PENDING'],
  ]);
  expect(attemptsOf(waiting({ state: 'CANCELLED' })).map((one) => one.attempt)).toEqual([1]);
});

it('clockTime leaves out today’s date and fractions of a second', () => {
  const day = Date.parse('2026-11-24T21:00:36.385Z');
  expect(clockTime(day, day - 4000, 'UTC')).toBe('21:00:36');
  expect(clockTime(day, day - 86_400_000, 'UTC')).toBe('2026-11-24 21:00:36');
});

describe('the timeline', () => {
  const second = attempt(2, { claimed_at: '2026-03-01T02:00:13Z', started_at: null, ended_at: null });
  const times = (run: Run, n?: number) => timeline(run, n).map((step) => [step.key, step.after]);
  it('the timeline follows the shown attempt from the end of the previous one', () => {
    const run = waiting({ state: 'FAILED', claimed_at: '2026-03-01T02:00:13Z' });
    run.attempts = [
      attempt(1),
      { ...second, started_at: '2026-03-01T02:00:14Z', ended_at: '2026-03-01T02:00:16Z' },
    ];
    expect(times(run, 2)).toEqual([
      ['planned', null],
      ['fire', null],
      ['previous_ended', 3000],
      ['claimed', 10_000],
      ['started', 1000],
      ['ended', 2000],
    ]);
    expect(times(run, 1).slice(2)).toEqual([
      ['claimed', 0],
      ['started', 0],
      ['ended', 3000],
    ]);
  });
  it('the timeline of a running attempt has no missing start', () => {
    const run = waiting({ state: 'RUNNING', claimed_at: '2026-03-01T02:00:13Z' });
    run.attempts = [attempt(1), { ...second, state: 'RUNNING' }];
    expect(times(run).map(([key]) => key)).toEqual(['planned', 'fire', 'previous_ended', 'claimed', 'ended']);
  });
});

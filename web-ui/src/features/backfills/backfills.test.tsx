import '../../../test_support/texts';
import { QueryClientProvider } from '@tanstack/react-query';
import {
  RouterProvider,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  type AnyRoute,
} from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { queryClient } from '../../api/queries';
import type { Job } from '../../api/types';
import { parseSearch, stringifySearch } from '../../lib/search_params';
import { signOut } from '../../auth/session';
import { signedInAs } from '../../../test_support/person';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';
import BackfillDialog from './backfill_dialog';
import { BackfillsPage } from './backfills_page';
import '../../ui/dialogs/modal_dialog';

const terms = {
  job_id: 'report',
  schedule_id: 5,
  from: '2026-03-01T00:00:00Z',
  to: '2026-03-08T00:00:00Z',
  order: 'ascending',
  rerun: 'none',
  concurrency: 1,
  priority: null,
  parameters: {},
};
const running = {
  ...terms,
  backfill_id: 7,
  state: 'RUNNING',
  fires: 7,
  done: 3,
  created: 4,
  run_again: 0,
  existing: 0,
  refused: 0,
  succeeded: 2,
  failed: 1,
  running: 1,
  cursor_time: '2026-03-04T03:00:00Z',
  error: null,
  actor: 'anna',
  create_time: '2026-03-09T00:00:00Z',
  end_time: null,
  allowed_actions: ['cancel', 'pause', 'resume'],
};
const ended = { ...running, backfill_id: 6, state: 'COMPLETED', done: 7, end_time: '2026-03-09T01:00:00Z' };
const job = {
  job_id: 'report',
  name: 'Report',
  schedules: [{ kind: 'cron', cron_expression: '0 3 * * *', schedule_id: 5 }],
} as unknown as Job;

beforeEach(async () => {
  queryClient.clear();
  await signedInAs(['jobs:run:own']);
});
afterEach(() => signOut());

function show(component: () => React.ReactNode, address: string) {
  const root = createRootRoute();
  const routes: AnyRoute[] = ['/backfills', '/jobs/$id'].map((path) =>
    createRoute({ getParentRoute: () => root, path, component: component as never }),
  );
  const router = createRouter({
    routeTree: root.addChildren(routes),
    parseSearch,
    stringifySearch,
    history: createMemoryHistory({ initialEntries: [address] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return router;
}

describe('the list of backfills', () => {
  const answer = (items: object[]) =>
    server.use(
      http.get(at('backfills'), () =>
        HttpResponse.json({ items, next_page_token: null, total: items.length }),
      ),
    );

  it('the list of backfills shows progress and offers the possible actions', async () => {
    answer([running, ended]);
    show(BackfillsPage, '/backfills');
    const bars = await screen.findAllByRole('progressbar');
    expect(bars[0]).toHaveProperty('value', 3);
    expect(bars[0]).toHaveProperty('max', 7);
    await screen.findByText('3 of 7 done, 1 failed, 1 open');
    expect(screen.getAllByRole('button', { name: 'Pause' })).toHaveLength(1);
  });

  it('the list of backfills pauses at once and cancels after a confirmation', async () => {
    const asked: string[] = [];
    answer([running]);
    server.use(
      http.post(at('backfills/7/:verb'), ({ params }) => {
        asked.push(String(params.verb));
        return HttpResponse.json(running);
      }),
    );
    show(BackfillsPage, '/backfills');
    fireEvent.click(await screen.findByRole('button', { name: 'Pause' }));
    await waitFor(() => expect(asked).toEqual(['pause']));
    fireEvent.click(await screen.findByRole('button', { name: 'Cancel' }));
    await screen.findByText('Cancel this backfill?');
    const buttons = screen.getAllByRole('button', { name: 'Cancel' });
    fireEvent.click(buttons[buttons.length - 1]!);
    await waitFor(() => expect(asked).toEqual(['pause', 'cancel']));
  });

  it('the list of backfills disables actions that the caller may not do', async () => {
    answer([{ ...running, allowed_actions: [] }]);
    show(BackfillsPage, '/backfills');
    expect(await screen.findByRole('button', { name: 'Pause' })).toHaveProperty('disabled', true);
  });

  it('the list of backfills says how to begin when it is empty', async () => {
    answer([]);
    show(BackfillsPage, '/backfills');
    await screen.findByText('No backfills yet');
  });
});

describe('the dialog for past fires', () => {
  const onClose = vi.fn();
  let bodies: Record<string, unknown>[];
  beforeEach(() => {
    bodies = [];
    onClose.mockClear();
    server.use(
      http.post(at('jobs/report/backfills'), async ({ request }) => {
        const body = (await request.json()) as Record<string, unknown>;
        bodies.push(body);
        return body.dry_run
          ? HttpResponse.json({
              ...terms,
              fires: 7,
              to_run: 4,
              existing: 2,
              refused: 1,
              fires_max: 100_000,
              first_fires: ['2026-03-01T03:00:00Z'],
            })
          : HttpResponse.json(running, { status: 201 });
      }),
    );
  });
  const open = () => show(() => <BackfillDialog job={job} onClose={onClose} />, '/jobs/report');

  it('the backfill dialog previews what would run before it starts', async () => {
    const router = open();
    fireEvent.click(await screen.findByRole('button', { name: 'Preview' }));
    await screen.findByText('4 of 7 fires would be run');
    await screen.findByText('2 already have a run that is kept');
    await screen.findByText('1 are left out because their run is active');
    fireEvent.click(screen.getByRole('button', { name: 'Start' }));
    await waitFor(() => expect(onClose).toHaveBeenCalled());
    expect(bodies.map((body) => body.dry_run)).toEqual([true, undefined]);
    expect(bodies[1]).toMatchObject({ rerun: 'none', order: 'ascending', concurrency: 1 });
    await waitFor(() => expect(router.state.location.pathname).toBe('/backfills'));
  });

  it('the backfill dialog asks for a new preview after a change', async () => {
    open();
    fireEvent.click(await screen.findByRole('button', { name: 'Preview' }));
    await screen.findByRole('button', { name: 'Start' });
    fireEvent.change(screen.getByLabelText('Runs at a time'), { target: { value: '3' } });
    await screen.findByRole('button', { name: 'Preview' });
    fireEvent.change(screen.getByLabelText('Runs at a time'), { target: { value: '0' } });
    fireEvent.click(screen.getByRole('button', { name: 'Preview' }));
    await screen.findByText('Must be a whole number from 1 to 100.');
    expect(bodies).toHaveLength(1);
  });

  it('the backfill dialog shows a refusal at its field', async () => {
    server.use(
      http.post(at('jobs/report/backfills'), () =>
        problem(422, 'not_kept', 'Runs are kept for 14 days.', {
          errors: [{ pointer: '/from', code: 'not_kept', detail: 'Runs are kept for 14 days.' }],
        }),
      ),
    );
    open();
    fireEvent.click(await screen.findByRole('button', { name: 'Preview' }));
    expect((await screen.findByRole('alert')).textContent).toMatch(/kept/);
  });
});

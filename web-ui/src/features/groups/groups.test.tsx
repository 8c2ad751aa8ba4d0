import '../../../test_support/texts';
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
import { queryClient } from '../../api/queries';
import { GroupPage } from './group_page';
import { limitOf } from './group_values';
import { GroupsPage } from './groups_page';
import { signedInAs } from '../../../test_support/person';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';
import '../../ui/dialogs/modal_dialog';

const SLOW_MS = 60_000; // ms; the first test also loads the parts of the page
const group = {
  name: 'db',
  limit: 3,
  running: 3,
  queued: 2,
  jobs: 4,
  update_time: '2026-03-01T00:00:00Z',
};
const detail = {
  ...group,
  queued: 120,
  holders: [
    { run_id: 'r1', job_id: 'a', job_name: 'Nightly', state: 'RUNNING', since: '2026-03-01T02:00:00Z' },
  ],
  queue: [
    { run_id: 'r2', job_id: 'b', job_name: '', position: 1, since: '2026-03-01T02:01:00Z', priority: 5 },
    {
      run_id: 'r3',
      job_id: 'a',
      job_name: 'Nightly',
      position: 2,
      since: '2026-03-01T02:02:00Z',
      priority: 0,
    },
  ],
};

function open(path: string) {
  const root = createRootRoute();
  const pages = [
    createRoute({ getParentRoute: () => root, path: '/groups', component: GroupsPage }),
    createRoute({ getParentRoute: () => root, path: '/groups/$name', component: GroupPage }),
  ];
  const router = createRouter({
    routeTree: root.addChildren(pages),
    history: createMemoryHistory({ initialEntries: [path] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return router;
}
const listed = (items: object[]) => server.use(http.get(at('groups'), () => HttpResponse.json({ items })));
const type = (label: string, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }));
beforeEach(() => queryClient.clear());

describe('the page of groups', () => {
  it('the list of groups shows limit and use, and links to each group', async () => {
    listed([group]);
    open('/groups');
    const link = await screen.findByRole('link', { name: 'db' }, { timeout: SLOW_MS });
    expect(link.getAttribute('href')).toBe('/groups/db');
    const cells = within(link.closest('tr')!).getAllByRole('cell');
    expect(cells.slice(1, 5).map((cell) => cell.textContent)).toEqual(['3', '3', '2', '4']);
  });

  it('the list of groups creates a group; an invalid field is shown and not sent', async () => {
    const sent: unknown[] = [];
    listed([group]);
    server.use(
      http.put(at('groups/printer'), async ({ request }) => {
        sent.push(await request.json());
        return HttpResponse.json({ ...group, name: 'printer' });
      }),
    );
    open('/groups');
    await screen.findByRole('link', { name: 'db' }, { timeout: SLOW_MS });
    press('New group');
    await screen.findByLabelText('Name');
    type('Limit', '10001');
    press('Create group');
    await screen.findByText('Must be a whole number from 0 to 10,000.');
    expect(screen.getByLabelText('Name').getAttribute('aria-invalid')).toBe('true');
    type('Name', 'db');
    type('Limit', '2');
    press('Create group');
    await screen.findByText('This group already exists.');
    type('Name', ' printer ');
    press('Create group');
    await waitFor(() => expect(sent).toEqual([{ limit: 2 }]));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  });

  it('the list of groups changes a limit and shows why a group cannot be deleted', async () => {
    const sent: unknown[] = [];
    listed([group]);
    server.use(
      http.put(at('groups/db'), async ({ request }) => {
        sent.push(await request.json());
        return HttpResponse.json(group);
      }),
      http.delete(at('groups/db'), () => problem(409, 'in_use', '4 jobs use the group db.')),
    );
    open('/groups');
    await screen.findByRole('link', { name: 'db' }, { timeout: SLOW_MS });
    press('Change limit of db');
    expect((await screen.findByLabelText<HTMLInputElement>('Limit')).value).toBe('3');
    type('Limit', '0');
    press('Save');
    await waitFor(() => expect(sent).toEqual([{ limit: 0 }]));
    fireEvent.click(await screen.findByRole('button', { name: 'Delete db' }));
    fireEvent.click(await screen.findByRole('button', { name: 'Delete' }));
    expect((await screen.findByRole('alert')).textContent).toContain('4 jobs use the group db.');
  });

  it('the list of groups changes the time after which slots are given again', async () => {
    const sent: unknown[] = [];
    listed([{ ...group, per_s: 60 }]);
    server.use(
      http.put(at('groups/db'), async ({ request }) => {
        sent.push(await request.json());
        return HttpResponse.json(group);
      }),
    );
    open('/groups');
    const link = await screen.findByRole('link', { name: 'db' }, { timeout: SLOW_MS });
    expect(within(link.closest('tr')!).getAllByRole('cell')[1]!.textContent).toBe('3 / 1 min');
    press('Change limit of db');
    expect((await screen.findByLabelText<HTMLInputElement>('Period (seconds)')).value).toBe('60');
    type('Period (seconds)', '86401');
    press('Save');
    await screen.findByText('Must be a whole number from 0 to 86,400.');
    type('Period (seconds)', '1');
    press('Save');
    await waitFor(() => expect(sent).toEqual([{ limit: 3, per_s: 1 }]));
  });

  it('the list of groups distinguishes empty and a failed load', async () => {
    listed([]);
    open('/groups');
    await screen.findByText('No groups yet', {}, { timeout: SLOW_MS });
    queryClient.clear();
    server.use(http.get(at('groups'), () => problem(403, 'forbidden', 'The permission read is missing.')));
    open('/groups');
    await screen.findByText('The permission read is missing.');
  });

  it('the list of groups offers no change to readers', async () => {
    await signedInAs(['read', 'jobs:write:own']);
    listed([group]);
    open('/groups');
    await screen.findByRole('link', { name: 'db' }, { timeout: SLOW_MS });
    for (const name of ['New group', 'Change limit of db', 'Delete db']) {
      const button = screen.getByRole<HTMLButtonElement>('button', { name });
      expect([button.disabled, button.title]).toEqual([true, 'Only administrators can do this.']);
    }
    await signedInAs(['read', 'config:write']);
  });
});

describe('the page of a group', () => {
  it('the page of a group shows who holds its slots and who waits, in order', async () => {
    server.use(http.get(at('groups/db'), () => HttpResponse.json(detail)));
    open('/groups/db');
    await screen.findByText(/3 of 3 slots in use · used by 4 jobs/, {}, { timeout: SLOW_MS });
    const targets = (name: string) =>
      within(screen.getByRole('region', { name }))
        .getAllByRole('link')
        .map((link) => link.getAttribute('href'));
    expect(targets('Running')).toEqual(['/jobs/a', '/runs/r1']);
    expect(targets('Waiting')).toEqual(['/jobs/b', '/runs/r2', '/jobs/a', '/runs/r3']);
    screen.getByText('Showing the first 2 of 120 runs.');
  });

  it('the page of a group shows its starts in a time, and when the next slot is given', async () => {
    const cooling = { per_s: 60, cooling: 3, next_start_time: '2026-03-01T02:00:00Z' };
    server.use(http.get(at('groups/db'), () => HttpResponse.json({ ...detail, ...cooling, running: 0 })));
    open('/groups/db');
    await screen.findByText(
      /at most 3 starts in 1 min · 3 free slots wait until their period ends/,
      {},
      { timeout: SLOW_MS },
    );
  });

  it('the page of a group returns to the list after a delete', async () => {
    listed([]);
    server.use(
      http.get(at('groups/db'), () => HttpResponse.json({ ...detail, holders: [], queue: [], queued: 0 })),
      http.delete(at('groups/db'), () => new HttpResponse(null, { status: 204 })),
    );
    const router = open('/groups/db');
    await screen.findByText('No run is waiting.', {}, { timeout: SLOW_MS });
    press('Delete');
    const dialog = await screen.findByRole('dialog');
    fireEvent.click(within(dialog).getByRole('button', { name: 'Delete' }));
    await waitFor(() => expect(router.state.location.pathname).toBe('/groups'));
  });

  it('the page of a group says when the group does not exist', async () => {
    server.use(http.get(at('groups/db'), () => problem(404, 'not_found', 'There is no group db.')));
    open('/groups/db');
    await screen.findByText('There is no group db.', {}, { timeout: SLOW_MS });
    screen.getByRole('link', { name: 'Groups' });
  });
});

it('a group’s limit is a whole number up to 10,000', () => {
  expect(['0', ' 10000 ', '3'].map(limitOf)).toEqual([0, 10_000, 3]);
  expect(['', '-1', '1.5', '10001', '1e3', 'x'].map(limitOf)).toEqual([null, null, null, null, null, null]);
});

import { QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { describe, expect, it, vi } from 'vitest';
import { parseSearch, stringifySearch } from '../../app/search_params';
import { queryClient, totalOf } from '../../api/queries';
import { act, filterOf, preview, targetOf } from '../bulk/bulk';
import { choice, chosenFrom, isShown, useColumns } from './columns';
import { ListBar, useSelectable, useTickColumn } from './list_bar';
import { DataTable, nextSort, type Sorting } from '../../ui/data_table';
import { NOTHING, areAllTicked, countOf, everything, isTicked, only, tick, tickShown } from './selection';
import { renamed, viewOf, viewsFrom, withView, withoutView } from './views';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';
import '../../i18n/more';
// Loaded before the tests, so that none waits for a part that the page loads later.
import './list_tools';
import '../bulk/bulk_dialog';
import '../../ui/dialogs/modal_dialog';

const rows = ['a', 'b', 'c', 'd', 'e'];
const chosen = (selection: { ids: ReadonlySet<string> }) => [...selection.ids].toSorted();

describe('a selection', () => {
  it('is ticked row by row', () => {
    const two = tick(tick(NOTHING, 'b', rows, false), 'd', rows, false);
    expect(chosen(two)).toEqual(['b', 'd']);
    expect(chosen(tick(two, 'b', rows, false))).toEqual(['d']);
  });
  it('takes a range, up or down, to what the last row becomes', () => {
    const range = tick(tick(NOTHING, 'd', rows, false), 'b', rows, true);
    expect(chosen(range)).toEqual(['b', 'c', 'd']);
    expect(chosen(tick(tick(range, 'b', rows, false), 'c', rows, true))).toEqual(['d']);
  });
  it('takes one row where the range has no beginning any more', () => {
    expect(chosen(tick(NOTHING, 'c', rows, true))).toEqual(['c']);
    expect(chosen(tick(tick(NOTHING, 'gone', ['gone'], false), 'c', rows, true))).toEqual(['c', 'gone']);
  });
  it('takes all that is shown, and gives it back', () => {
    const all = tickShown(tick(NOTHING, 'b', rows, false), rows);
    expect(areAllTicked(all, rows)).toBe(true);
    expect(chosen(tickShown(all, rows))).toEqual([]);
    expect(areAllTicked(NOTHING, [])).toBe(false);
  });
  it('of everything holds rows that are loaded later, until one is taken out', () => {
    const all = everything(rows, 137, false);
    expect(countOf(all)).toBe(137);
    expect(isTicked(all, 'later')).toBe(true);
    const without = tick(all, 'later', [...rows, 'later'], false);
    expect(countOf(without)).toBe(5);
    expect(without.all).toBeNull();
  });
  it('keeps what failed', () => expect(chosen(only(['b']))).toEqual(['b']));
});

describe('whom an action means', () => {
  const runs = [
    { id: '1', name: 'one', state: 'RUNNING' },
    { id: '2', name: 'two', state: 'FAILED' },
  ];
  const both = only(['1', '2']);
  it('is the selection, without the runs whose state does not fit', () => {
    expect(targetOf('run', 'cancel', both, runs, {})).toEqual({ ids: ['1'] });
    expect(targetOf('run', 'retry', both, runs, {})).toEqual({ ids: ['2'] });
    expect(targetOf('run', 'retry', only(['1']), runs, {})).toBeNull();
    expect(targetOf('run', 'retry', only(['not-loaded']), runs, {})).toEqual({ ids: ['not-loaded'] });
    expect(targetOf('job', 'pause', only(['x']), [{ id: 'x', name: 'x', state: 'PAUSED' }], {})).toEqual({
      ids: ['x'],
    });
  });
  it('is the filter where everything is selected, of runs with the states that fit', () => {
    const all = everything([], 9, false);
    expect(targetOf('job', 'pause', all, [], { status: 'ENABLED' })).toEqual({
      filter: { q: '', status: 'ENABLED' },
    });
    expect(targetOf('run', 'retry', all, [], { state: ['FAILED', 'COMPLETED'], job_id: 'x' })).toEqual({
      filter: { state: ['FAILED'], job_id: 'x' },
    });
    expect(targetOf('run', 'retry', all, [], { state: ['COMPLETED'] })).toBeNull();
  });
  it('always has a condition, as the API wants it', () => {
    expect(filterOf('job', { q: undefined })).toEqual({ q: '' });
    expect(filterOf('run', { state: [] }).state).toContain('COMPLETED');
  });
});

interface Asked {
  action: string;
  kind: string;
  ids?: string[];
  filter?: object;
  dry_run?: boolean;
  reason?: string;
}

// Answers bulk requests as the server does; the `refused` ids belong to somebody else.
function answerBulk(refused: readonly string[], seen: Asked[] = [], matching: readonly string[] = []) {
  server.use(
    http.post(at('bulk'), async ({ request }) => {
      const body = (await request.json()) as Asked;
      seen.push(body);
      const items = (body.ids ?? matching).map((id) =>
        refused.includes(id)
          ? {
              id,
              result: 'error',
              run_id: null,
              error: { code: 'not_owner', detail: id + ' belongs to somebody else.' },
            }
          : { id, result: body.dry_run ? 'would' : 'done', run_id: null, error: null },
      );
      return HttpResponse.json({ total: items.length, more: false, items });
    }),
  );
  return seen;
}
const progress = {
  go: () => true,
  explain: String,
  notTried: (stopped: boolean) => (stopped ? 'stopped' : 'not tried'),
};
const many = (n: number) => Array.from({ length: n }, (_, i) => 'job-' + i);

describe('many', () => {
  it('are asked piece by piece, and the progress is told', async () => {
    const seen = answerBulk(['job-7']);
    const asked: number[] = [];
    const items = await act(
      'job',
      'pause',
      many(120),
      { reason: 'moving' },
      {
        ...progress,
        go: (n) => {
          asked.push(n);
          return true;
        },
      },
    );
    expect(asked).toEqual([50, 100, 120]);
    expect(seen.map((one) => one.ids!.length)).toEqual([50, 50, 20]);
    expect(seen[0]!.reason).toBe('moving');
    expect(items.filter((item) => item.error).map((item) => item.id)).toEqual(['job-7']);
  });
  it('a piece that fails ends it: the rest is not tried, and says so', async () => {
    let requests = 0;
    server.use(
      http.post(at('bulk'), () =>
        ++requests === 1
          ? HttpResponse.json({
              total: 50,
              more: false,
              items: many(50).map((id) => ({ id, result: 'done', run_id: null, error: null })),
            })
          : problem(503, 'unavailable', 'The store is away.'),
      ),
    );
    const items = await act('job', 'run', many(120), {}, progress);
    expect(requests).toBe(2);
    expect(items.length).toBe(120);
    expect(items.filter((item) => item.error?.code === 'unavailable').length).toBe(50);
    expect(items.filter((item) => item.error?.detail === 'not tried').length).toBe(20);
  });
  it('are asked for again with the same key and body where no answer says what was done', async () => {
    const keys: (string | null)[] = [];
    const bodies: string[] = [];
    const pauses: number[] = [];
    const before = [
      HttpResponse.error(),
      problem(504, 'outcome_unknown', 'Look.'),
      problem(409, 'request_in_flight', 'Wait.'),
    ];
    server.use(
      http.post(at('bulk'), async ({ request }) => {
        keys.push(request.headers.get('Idempotency-Key'));
        bodies.push(await request.text());
        const { ids } = JSON.parse(bodies.at(-1)!) as { ids: string[] };
        return (
          before.shift() ??
          HttpResponse.json({
            total: ids.length,
            more: false,
            items: ids.map((id) => ({ id, result: 'done', run_id: null, error: null })),
          })
        );
      }),
    );
    const items = await act(
      'job',
      'run',
      many(60),
      { reason: 'now' },
      { ...progress, pause: async (n) => void pauses.push(n) },
    );
    expect(items.every((item) => item.result === 'done')).toBe(true);
    expect(pauses).toEqual([1, 2, 3]);
    expect([new Set(keys.slice(0, 4)).size, new Set(bodies.slice(0, 4)).size, keys.length]).toEqual([
      1, 1, 5,
    ]);
    expect(keys[4]).not.toBe(keys[0]);
  });
  it.each([
    ['nothing answers', () => HttpResponse.error(), 4, 'unsure'],
    ['half of an answer comes', () => new HttpResponse('{"items": ['), 4, 'unsure'],
    ['it is still on its way', () => problem(409, 'request_in_flight', 'Wait.'), 4, 'unsure'],
    ['it is refused', () => problem(409, 'conflict', 'No.'), 1, 'error'],
    ['the server says that it is away', () => problem(503, 'unavailable', 'Later.'), 1, 'error'],
  ])('may have been done, or not, when %s', async (_, answer, most, result) => {
    let requests = 0;
    server.use(
      http.post(at('bulk'), () => {
        requests += 1;
        return answer();
      }),
    );
    const items = await act('job', 'run', many(60), {}, { ...progress, pause: async () => {} });
    expect(requests).toBe(most);
    expect(items.filter((item) => item.result === result)).toHaveLength(result === 'error' ? 60 : 50);
    expect(items.filter((item) => item.error?.code === 'not_tried')).toHaveLength(10);
  });
  it('stop after the piece in which somebody stops it', async () => {
    answerBulk([]);
    const items = await act('job', 'run', many(60), {}, { ...progress, go: () => false });
    expect(items.filter((item) => item.error?.detail === 'stopped').length).toBe(10);
  });
  it('are previewed in requests that the server takes', async () => {
    const seen = answerBulk([]);
    expect((await preview('job', 'run', { ids: many(1500) })).total).toBe(1500);
    expect(seen.map((one) => one.ids!.length)).toEqual([1000, 500]);
  });
});

const jobs = [
  { id: 'mine', name: 'My job', state: 'ENABLED' },
  { id: 'hers', name: 'Her job', state: 'ENABLED' },
];
function List({ hasMore = false, total = null }: { hasMore?: boolean; total?: ReturnType<typeof totalOf> }) {
  const columns = useColumns('job', [
    { id: 'owner', label: 'Owner', usual: true },
    { id: 'changed', label: 'Changed', usual: false },
  ]);
  const list = useSelectable({ kind: 'job', search: { q: 'job' }, rows: jobs, hasMore, total, columns });
  const ticks = useTickColumn(list, (job: (typeof jobs)[number]) => job);
  return (
    <>
      <ListBar list={list} always="Job" />
      <p>{['owner', 'changed'].filter(columns.isShown).join()}</p>
      {jobs.map((job) => (
        <div key={job.id}>{ticks.cell(job)}</div>
      ))}
    </>
  );
}
function show(element: React.ReactElement) {
  const router = createRouter({
    routeTree: createRootRoute({ component: () => element }),
    history: createMemoryHistory({ initialEntries: ['/?q=job'] }),
    parseSearch,
    stringifySearch,
  });
  return render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
}
const ticked = (name: string) =>
  screen.getByRole<HTMLInputElement>('checkbox', { name: 'Select ' + name }).checked;

describe('how many there are', () => {
  const page = (members: object) => ({
    pages: [
      { items: [], next_page_token: null, ...members },
      { items: [], next_page_token: null },
    ],
  });
  it('is what the first page says', () => {
    expect(totalOf(page({ total: 0 }))).toEqual({ n: 0, more: false });
    expect(totalOf(page({ total_at_least: 1000 }))).toEqual({ n: 1000, more: true });
    expect(totalOf(page({}))).toBeNull();
    expect(totalOf(undefined)).toBeNull();
  });
  it.each([
    [{ n: 1000, more: true }, '1,000+ jobs'],
    [{ n: 42, more: false }, '42 jobs'],
    [{ n: 1, more: false }, '1 job'],
    [{ n: 1, more: true }, '1+ jobs'],
  ])('is above the list: %j', async (total, text) => {
    show(<List total={total} />);
    expect((await screen.findByTestId('total')).textContent).toBe(text);
  });
  it('is not made up', async () => {
    show(<List />);
    await screen.findByRole('checkbox', { name: 'Select all 2 shown' });
    expect(screen.queryByTestId('total')).toBeNull();
  });
});

describe('a header that sorts', () => {
  const columns = [
    { id: 'name', header: 'Name', sort: 'name', cell: () => '' },
    { id: 'state', header: 'State', cell: () => '' },
  ];
  const table = (sorting: Sorting) =>
    render(<DataTable label="Jobs" columns={columns} rows={[]} rowId={() => ''} sorting={sorting} />);
  it('goes one way, the other way, and back to the usual order', () => {
    const onSort = () => {};
    expect(nextSort({ by: undefined, onSort }, 'name')).toBe('name');
    expect(nextSort({ by: 'name', onSort }, 'name')).toBe('-name');
    expect(nextSort({ by: '-name', onSort }, 'name')).toBeUndefined();
    expect(nextSort({ by: '-update_time', onSort }, 'name')).toBe('name');
    expect(nextSort({ by: undefined, usual: '-fire_time', onSort }, 'fire_time')).toBe('fire_time');
    expect(nextSort({ by: 'fire_time', usual: '-fire_time', onSort }, 'fire_time')).toBeUndefined();
  });
  it('says how the list is sorted', () => {
    const asked: unknown[] = [];
    table({ by: '-name', onSort: (by) => asked.push(by) });
    const name = screen.getByRole('columnheader', { name: 'Name' });
    expect(name.getAttribute('aria-sort')).toBe('descending');
    expect(within(screen.getByRole('columnheader', { name: 'State' })).queryByRole('button')).toBeNull();
    fireEvent.click(within(name).getByRole('button', { name: 'Name' }));
    expect(asked).toEqual([undefined]);
  });
  it('says nothing of another order', () => {
    table({ by: undefined, onSort: () => {} });
    expect(screen.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort')).toBeNull();
  });
});

describe('the bar', () => {
  it('previews, asks, shows what became of each by its name, and keeps what failed', async () => {
    const seen = answerBulk(['hers']);
    show(<List />);
    fireEvent.click(await screen.findByRole('checkbox', { name: 'Select all 2 shown' }));
    fireEvent.click(screen.getByRole('button', { name: 'Pause' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Pause these jobs?' }));
    await dialog.findByText('1 of 2 jobs can be paused');
    expect(
      within(dialog.getByRole('region', { name: 'Not possible for' })).getByRole('link').textContent,
    ).toBe('Her job');
    fireEvent.change(dialog.getByLabelText('Reason (optional)'), { target: { value: ' moving ' } });
    fireEvent.click(dialog.getByRole('button', { name: 'Pause' }));
    await dialog.findByText('1 done, 1 failed');
    dialog.getByRole('heading', { name: 'Pause 2 jobs' });
    const failed = within(dialog.getByRole('region', { name: 'Failed' }));
    expect(failed.getByRole('listitem').textContent).toBe('Her jobhers belongs to somebody else.');
    expect(dialog.getByRole('region', { name: 'Done' }).textContent).toContain('My job');
    expect(seen.map((one) => [one.dry_run ?? false, one.action, one.reason])).toEqual([
      [true, 'pause', undefined],
      [false, 'pause', 'moving'],
    ]);
    fireEvent.click(dialog.getAllByRole('button', { name: 'Close' }).at(-1)!);
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect([ticked('My job'), ticked('Her job')]).toEqual([false, true]);
  });
  it('says what may have been done, and does not keep it selected', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'], shouldAdvanceTime: true, advanceTimeDelta: 20 });
    server.use(
      http.post(at('bulk'), async ({ request }) => {
        const { dry_run, ids } = (await request.json()) as Asked;
        return dry_run
          ? HttpResponse.json({
              total: ids!.length,
              more: false,
              items: ids!.map((id) => ({ id, result: 'would', run_id: null, error: null })),
            })
          : problem(504, 'outcome_unknown', 'Look at the runs.');
      }),
    );
    show(<List />);
    fireEvent.click(await screen.findByRole('checkbox', { name: 'Select all 2 shown' }));
    fireEvent.click(screen.getByRole('button', { name: 'Run now' }));
    const dialog = within(await screen.findByRole('dialog'));
    await dialog.findByText('2 of 2 jobs can be started');
    fireEvent.click(dialog.getByRole('button', { name: 'Run now' }));
    await vi.waitFor(
      async () => {
        await vi.advanceTimersByTimeAsync(1000);
        dialog.getByText('0 done, 0 failed, 2 unknown');
      },
      { timeout: 5000 },
    );
    vi.useRealTimers();
    const unsure = within(dialog.getByRole('region', { name: 'Result unknown' }));
    expect(unsure.getAllByRole('listitem').map((item) => item.textContent)).toEqual([
      'My jobLook at the runs.',
      'Her jobLook at the runs.',
    ]);
    fireEvent.click(dialog.getAllByRole('button', { name: 'Close' }).at(-1)!);
    await waitFor(() => expect([ticked('My job'), ticked('Her job')]).toEqual([false, false]));
  });
  it('takes everything that matches, also what is not loaded, by the filter', async () => {
    const seen = answerBulk([], [], many(137));
    show(<List hasMore />);
    fireEvent.click(await screen.findByRole('checkbox', { name: 'Select all 2 shown' }));
    fireEvent.click(screen.getByRole('button', { name: 'Select all matches' }));
    await screen.findByText('All 137 matches are selected');
    fireEvent.click(screen.getByRole('button', { name: 'Resume' }));
    await screen.findByText('137 of 137 jobs can be resumed');
    expect(seen.at(-1)).toMatchObject({ action: 'resume', filter: { q: 'job' }, dry_run: true });
    expect(seen.every((one) => one.dry_run)).toBe(true);
  });
  it('shows what became of each also where nothing stays selected, and gives the focus to what is still there', async () => {
    answerBulk([]);
    show(<List />);
    await screen.findByText('Select all 2 shown');
    fireEvent.click(screen.getByRole('checkbox', { name: 'Select My job' }));
    fireEvent.click(screen.getByRole('button', { name: 'Run now' }));
    const dialog = within(await screen.findByRole('dialog'));
    await dialog.findByText('1 of 1 jobs can be started');
    fireEvent.click(dialog.getByRole('button', { name: 'Run now' }));
    await dialog.findByText('1 done, 0 failed');
    fireEvent.click(dialog.getAllByRole('button', { name: 'Close' }).at(-1)!);
    await waitFor(() =>
      expect(document.activeElement).toBe(screen.getByRole('checkbox', { name: 'Select all 2 shown' })),
    );
    expect(ticked('My job')).toBe(false);
  });
  it('says why a preview is not there, and nothing is done', async () => {
    server.use(http.post(at('bulk'), () => problem(403, 'forbidden', 'Your role is read-only.')));
    show(<List />);
    await screen.findByText('Select all 2 shown');
    fireEvent.click(screen.getByRole('checkbox', { name: 'Select My job' }));
    fireEvent.click(screen.getByRole('button', { name: 'Run now' }));
    const dialog = within(await screen.findByRole('dialog'));
    expect((await dialog.findByRole('alert')).textContent).toBe('Your role is read-only.');
    expect(dialog.getByRole<HTMLButtonElement>('button', { name: 'Run now' }).disabled).toBe(true);
  });
  it('takes a range with the shift key', async () => {
    show(<List />);
    await screen.findByText('Select all 2 shown');
    fireEvent.click(screen.getByRole('checkbox', { name: 'Select My job' }));
    fireEvent.click(screen.getByRole('checkbox', { name: 'Select Her job' }), { shiftKey: true });
    await screen.findByText('2 selected');
    fireEvent.click(screen.getByRole('button', { name: 'Clear selection' }));
    expect([ticked('My job'), ticked('Her job')]).toEqual([false, false]);
  });
});

describe('columns', () => {
  const all = [
    { id: 'owner', label: 'Owner', usual: true },
    { id: 'changed', label: 'Changed', usual: false },
  ];
  it('are as usual but for what was chosen; others always stay', () => {
    expect(['name', 'owner', 'changed'].map((id) => isShown(all, {}, id))).toEqual([true, true, false]);
    const chosen = choice(all, choice(all, {}, 'owner', false), 'changed', true);
    expect(['name', 'owner', 'changed'].map((id) => isShown(all, chosen, id))).toEqual([true, false, true]);
    expect(choice(all, choice(all, chosen, 'owner', true), 'changed', false)).toEqual({});
  });
  it('survive a storage that holds something else', () => {
    for (const stored of [null, 'x', [1], { owner: 'no' }]) expect(chosenFrom(stored)).toEqual({});
  });
  it('are chosen with boxes, remembered, and put back', async () => {
    show(<List />);
    fireEvent.click(await screen.findByRole('button', { name: 'Columns' }));
    const panel = within(screen.getByRole('group', { name: 'Columns' }));
    expect(panel.getByRole<HTMLInputElement>('checkbox', { name: 'Job' }).disabled).toBe(true);
    fireEvent.click(panel.getByRole('checkbox', { name: 'Owner' }));
    fireEvent.click(panel.getByRole('checkbox', { name: 'Changed' }));
    await screen.findByText('changed');
    expect(localStorage.getItem('carillon.columns.job')).toBe('{"owner":false,"changed":true}');
    fireEvent.click(panel.getByRole('button', { name: 'Reset' }));
    await screen.findByText('owner');
    fireEvent.keyDown(panel.getByRole('button', { name: 'Reset' }), { key: 'Escape' });
    await waitFor(() => expect(screen.queryByRole('group', { name: 'Columns' })).toBeNull());
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Columns' }));
  });
});

describe('views', () => {
  const b = { name: 'b', search: '?state=FAILED&job_id=x' };
  it('are kept by name, in its order', () => {
    const two = withView([b], { name: 'a', search: '?q=1' });
    expect(two.map((view) => view.name)).toEqual(['a', 'b']);
    expect(withView(two, { name: 'a', search: '?q=2' })[0]!.search).toBe('?q=2');
    expect(renamed(two, 'a', 'c').map((view) => view.name)).toEqual(['b', 'c']);
    expect(withoutView(two, 'a')).toEqual([b]);
  });
  it('are known again by what their link says, in any order', () => {
    expect(viewOf([b], '?job_id=x&state=FAILED')).toBe(b);
    expect(viewOf([b], '?job_id=x')).toBeUndefined();
  });
  it('survive a storage that holds something else', () => {
    for (const stored of [null, 'x', {}, [null, 1, { name: 'x' }]]) expect(viewsFrom(stored)).toEqual([]);
  });
  it('are saved, renamed unless the name is taken, and deleted', async () => {
    show(<List />);
    fireEvent.click(await screen.findByRole('button', { name: 'Views' }));
    const panel = within(screen.getByRole('group', { name: 'Saved views' }));
    for (const name of ['One', 'Two']) {
      fireEvent.change(panel.getByLabelText('Save filters as'), { target: { value: name } });
      fireEvent.click(panel.getByRole('button', { name: 'Save view' }));
    }
    expect(panel.getByRole('link', { name: 'One' }).getAttribute('href')).toBe('/jobs?q=job');
    expect(JSON.parse(localStorage.getItem('carillon.views.job.token')!)).toEqual([
      { name: 'One', search: '?q=job' },
      { name: 'Two', search: '?q=job' },
    ]);
    fireEvent.click(panel.getByRole('button', { name: 'Rename Two' }));
    fireEvent.change(panel.getByLabelText('New name'), { target: { value: 'One' } });
    expect(panel.getByText('A view with this name already exists.')).toBeTruthy();
    fireEvent.change(panel.getByLabelText('New name'), { target: { value: 'Third' } });
    fireEvent.click(panel.getByRole('button', { name: 'Rename' }));
    expect(document.activeElement).toBe(panel.getByRole('button', { name: 'Rename Third' }));
    fireEvent.click(panel.getByRole('button', { name: 'Delete One' }));
    expect(document.activeElement).toBe(panel.getByLabelText('Save filters as'));
    expect(panel.getAllByRole('link').map((link) => link.textContent)).toEqual(['Third']);
    expect(screen.getByRole('button', { name: 'View: Third' })).toBeTruthy();
  });
});

import { QueryClientProvider } from '@tanstack/react-query';
import {
  RouterProvider,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
} from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readJobs } from '../../../api/job_pages';
import { queryClient } from '../../../api/queries';
import type { Job } from '../../../api/types';
import { PAGE_SIZES, many, one, oneOf, parseSearch, stringifySearch } from '../../../lib/search_params';
import { signOut } from '../../../auth/session';
import { conditionFor, conditionsOf, withCondition, withoutCondition } from './selector_values';
import { JobsPage } from './jobs_page';
import { signedInAs } from '../../../../test_support/person';
import { HttpResponse, at, http, server } from '../../../../test_support/server';
import '../../lists/list_tools';

describe('a selector', () => {
  it('a selector is split at the commas between conditions', () => {
    expect(conditionsOf('')).toEqual([]);
    expect(conditionsOf('team = etl, !old ,zone in (a, b),note="x, (y"')).toEqual([
      'team = etl',
      '!old',
      'zone in (a, b)',
      'note="x, (y"',
    ]);
  });

  it('a condition is added once and removed', () => {
    expect(withCondition(undefined, 'team=etl')).toBe('team=etl');
    expect(withCondition('team = etl', '!old')).toBe('team = etl, !old');
    expect(withCondition('team = etl', 'team=etl')).toBe('team = etl');
    expect(withCondition('a', 'b, zone in (x, y)')).toBe('a, b, zone in (x, y)');
    expect(withoutCondition('team = etl, zone in (a, b)', 'team = etl')).toBe('zone in (a, b)');
    expect(withoutCondition('team = etl', 'team = etl')).toBeUndefined();
  });

  it('conditionFor quotes a label’s key and value', () => {
    expect(conditionFor('team', 'etl')).toBe('team=etl');
    expect(conditionFor('team', '')).toBe('team=""');
    expect(conditionFor('a b', 'x,y')).toBe('"a b"="x,y"');
    expect(conditionFor('quote', 'say "x"')).toBe('quote');
    expect(conditionFor('"', 'x')).toBeNull();
  });
});

describe('the list of jobs', () => {
  const job = {
    job_id: 'backup',
    name: 'Backup',
    namespace: 'payroll',
    schedules: [],
    time_zone: 'UTC',
    state: 'ENABLED',
    version: 3,
    labels: { team: 'etl' },
    user_id: 'user-2',
    next_fire_time: null,
    allowed_actions: [],
  } as unknown as Job;
  let asked: URLSearchParams[];
  beforeEach(() => {
    queryClient.clear();
    localStorage.clear();
    asked = [];
    server.use(
      http.get(at('jobs'), ({ request }) => {
        asked.push(new URL(request.url).searchParams);
        return HttpResponse.json({ items: [job], next_page_token: null });
      }),
      http.get(at('users'), () =>
        HttpResponse.json({ items: [{ user_id: 'user-2', name: 'bert' }], next_page_token: null }),
      ),
    );
  });
  afterEach(() => signOut());

  function list(address: string) {
    const root = createRootRoute();
    const here = createRoute({
      getParentRoute: () => root,
      path: '/jobs',
      component: JobsPage,
      validateSearch: (search) => ({
        q: one(search.q),
        namespace: many(search.namespace),
        selector: one(search.selector),
        user_id: one(search.user_id),
        page_size: oneOf(search.page_size, PAGE_SIZES),
      }),
    });
    const router = createRouter({
      routeTree: root.addChildren([here]),
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
  const addressOf = (router: ReturnType<typeof list>) => new URLSearchParams(router.state.location.searchStr);

  it('the job list continues a search until its page is full, then offers a button', async () => {
    await signedInAs(['jobs:write']);
    server.use(
      http.get(at('jobs'), ({ request }) => {
        const query = new URL(request.url).searchParams;
        asked.push(query);
        const round = Number(query.get('page_token') ?? '0');
        return HttpResponse.json({
          items: round === 12 ? [job] : [],
          next_page_token: round < 14 ? String(round + 1) : null,
          ...(round === 0 ? { total_at_least: 0 } : {}),
        });
      }),
    );
    list('/jobs?q=backup');
    const more = await screen.findByRole('button', { name: 'Continue searching' });
    expect(screen.getByText('Not all jobs have been searched yet.')).toBeTruthy();
    expect(screen.queryByText('No matches')).toBeNull();
    expect(asked.map((one) => one.get('page_token'))).toEqual([
      null,
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
      '7',
      '8',
      '9',
    ]);
    expect(new Set(asked.map((one) => one.get('q')))).toEqual(new Set(['backup']));
    fireEvent.click(more);
    await screen.findByRole('link', { name: 'Backup' });
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Continue searching' })).toBeNull());
    expect(asked.length).toBe(15);
  });

  it('the job list counts the matches once the search is complete', async () => {
    const answers = [
      { items: [job], next_page_token: 'x', total_at_least: 1 },
      { items: [{ ...job, job_id: 'other' }], next_page_token: null },
    ];
    server.use(
      http.get(at('jobs'), ({ request }) => {
        asked.push(new URL(request.url).searchParams);
        return HttpResponse.json(answers[asked.length - 1]);
      }),
    );
    const page = await readJobs({ q: 'backup', page_size: 20 }, new AbortController().signal);
    expect(page).toMatchObject({ total: 2, next_page_token: null, searched: 'full' });
    expect(page.total_at_least).toBeUndefined();
    expect(page.items.map((one) => one.job_id)).toEqual(['backup', 'other']);
    expect(asked.map((one) => one.get('page_size'))).toEqual(['20', '19']);
  });

  it('the job list filters by labels, owner and page size of its address', async () => {
    await signedInAs(['users:manage', 'jobs:write']);
    list('/jobs?selector=team=etl,!old&user_id=user-2&page_size=200');
    const chips = await screen.findByRole('list', { name: 'Filtered by' });
    expect(Object.fromEntries(asked[0]!)).toEqual({
      selector: 'team=etl,!old',
      user_id: 'user-2',
      page_size: '200',
    });
    await within(chips).findByText('Owner: bert');
    expect(
      within(chips)
        .getAllByRole('listitem')
        .map((chip) => chip.textContent),
    ).toEqual(['team=etl', '!old', 'Owner: bert']);
  });

  it('the job list adds and removes label conditions', async () => {
    const router = list('/jobs?q=back&selector=!old&page_size=100');
    fireEvent.click(await screen.findByTitle('Only jobs with team=etl'));
    await waitFor(() => expect(addressOf(router).get('selector')).toBe('!old, team=etl'));
    fireEvent.click(await screen.findByRole('button', { name: 'Remove the filter !old' }));
    await waitFor(() => expect(addressOf(router).get('selector')).toBe('team=etl'));
    fireEvent.change(screen.getByLabelText(/^Filter by labels/), { target: { value: 'zone in (a, b)' } });
    fireEvent.click(screen.getByRole('button', { name: 'Filter by this label' }));
    await waitFor(() => expect(addressOf(router).get('selector')).toBe('team=etl, zone in (a, b)'));
    expect([addressOf(router).get('q'), addressOf(router).get('page_size')]).toEqual(['back', '100']);
    fireEvent.change(screen.getByLabelText('Rows per page'), { target: { value: '50' } });
    await waitFor(() => expect(addressOf(router).has('page_size')).toBe(false));
    await waitFor(() => expect(asked.at(-1)!.get('page_size')).toBe('50'));
  });

  it('the job list offers other owners only to people who may read users', async () => {
    await signedInAs(['jobs:write:own']);
    const router = list('/jobs');
    const owner = await screen.findByLabelText<HTMLSelectElement>('Owner');
    expect([...owner.options].map((option) => option.textContent)).toEqual(['All owners', 'My jobs']);
    fireEvent.change(owner, { target: { value: 'user-1' } });
    await waitFor(() => expect(addressOf(router).get('user_id')).toBe('user-1'));
  });
});

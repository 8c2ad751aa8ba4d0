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
import { parseSearch, stringifySearch } from '../../lib/search_params';
import { CalendarPage } from './calendar_page';
import { CalendarsPage } from './calendars_page';
import { signedInAs } from '../../../test_support/person';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';
import '../../ui/dialogs/modal_dialog';

const SLOW_MS = 60_000; // ms; the first test also loads the parts of the page
const office = {
  name: 'office',
  version: 2,
  definition: {
    time_zone: 'Europe/Berlin',
    weekdays: ['mon', 'tue'],
    except: ['2026-12-25'],
    intervals: ['09:00-17:00'],
  },
  effective_time: '2026-03-01T00:00:00Z',
  jobs: 1,
};
const times = [{ from: '2026-03-02T08:00:00.000000Z', to: '2026-03-02T16:00:00.000000Z' }];

function open(path: string) {
  const root = createRootRoute();
  const pages = [
    createRoute({ getParentRoute: () => root, path: '/calendars', component: CalendarsPage }),
    createRoute({ getParentRoute: () => root, path: '/calendars/$name', component: CalendarPage }),
  ];
  const router = createRouter({
    routeTree: root.addChildren(pages),
    history: createMemoryHistory({ initialEntries: [path] }),
    parseSearch,
    stringifySearch,
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return router;
}
const field = (label: string) => screen.findByLabelText<HTMLInputElement>(label, {}, { timeout: SLOW_MS });
const type = (label: string, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }));
let previewed: unknown[];
let sent: unknown[];
beforeEach(() => {
  queryClient.clear();
  previewed = [];
  sent = [];
  server.use(
    http.get(at('calendars'), () => HttpResponse.json({ items: [office] })),
    http.get(at('calendars/office'), () => HttpResponse.json(office)),
    http.post(at('calendars/preview'), async ({ request }) => {
      previewed.push(await request.json());
      return HttpResponse.json({ items: times });
    }),
  );
});

describe('the page of calendars', () => {
  it('the list of calendars describes each and links to it', async () => {
    const empty = { ...office, name: 'all', jobs: 0, definition: { time_zone: 'UTC' } };
    const newer = { ...office, name: 'newer', definition: null };
    server.use(http.get(at('calendars'), () => HttpResponse.json({ items: [office, empty, newer] })));
    open('/calendars');
    const link = await screen.findByRole('link', { name: 'office' }, { timeout: SLOW_MS });
    expect(link.getAttribute('href')).toBe('/calendars/office');
    const row = (name: string) =>
      within(screen.getByRole('link', { name }).closest('tr')!)
        .getAllByRole('cell')
        .slice(1, 5)
        .map((cell) => cell.textContent);
    expect(row('office')).toEqual(['Europe/Berlin', 'Mon Tue, except 1 date', '09:00-17:00', '1']);
    expect(row('all')).toEqual(['UTC', 'Every day', 'The whole day', '0']);
    expect(row('newer')[1]).toMatch(/newer version of Carillon/);
  });

  it('the list of calendars distinguishes empty and a failed load', async () => {
    server.use(http.get(at('calendars'), () => HttpResponse.json({ items: [] })));
    open('/calendars');
    await screen.findByText('No calendars yet', {}, { timeout: SLOW_MS });
    queryClient.clear();
    server.use(http.get(at('calendars'), () => problem(403, 'forbidden', 'The permission read is missing.')));
    open('/calendars');
    await screen.findByText('The permission read is missing.');
  });
});

describe('the page of a calendar', () => {
  const lists = (...dates: string[]) =>
    server.use(
      http.get(at('calendars/office'), () =>
        HttpResponse.json({ ...office, definition: { time_zone: 'UTC', dates } }),
      ),
    );
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

  it('the page of a calendar tells that its listed days end', async () => {
    lists(inDays(-60), inDays(10));
    open('/calendars/office');
    await screen.findByText(
      `The calendar lists no day after ${inDays(10)}. Add the days to come.`,
      {},
      { timeout: SLOW_MS },
    );
  });

  it('the page of a calendar is silent while its listed days go on', async () => {
    lists(inDays(10), inDays(200));
    open('/calendars/office');
    await field('Time zone');
    expect(screen.queryByText(/lists no day after/)).toBeNull();
  });
});

describe('a new calendar', () => {
  it('the form creates a calendar once its name is valid and unused', async () => {
    server.use(
      http.put(at('calendars/closing'), async ({ request }) => {
        sent.push(await request.json());
        return HttpResponse.json({ ...office, name: 'closing', version: 1 });
      }),
    );
    const router = open('/calendars?new=yes');
    await field('Name');
    press('Create calendar');
    await screen.findByText('Use lower-case letters, digits, - and _; at most 63 characters.');
    type('Name', 'office');
    await waitFor(() => screen.getByText('This calendar already exists.'));
    type('Name', 'closing');
    type('Time zone', 'Europe/Berlin');
    press('Fri');
    press('Mon');
    press('Fri');
    type('Dates', '2026-12-31\n2026-06-30');
    type('Times of day', '18:00 - 20:00');
    press('Create calendar');
    await waitFor(() => expect(router.state.location.pathname).toBe('/calendars/closing'));
    expect(sent).toEqual([
      {
        time_zone: 'Europe/Berlin',
        weekdays: ['mon'],
        dates: ['2026-06-30', '2026-12-31'],
        intervals: ['18:00-20:00'],
      },
    ]);
  });
});

describe('the page of a calendar', () => {
  it('the page of a calendar shows its definition, its effective time and a preview', async () => {
    open('/calendars/office');
    expect((await field('Except on')).value).toBe('2026-12-25');
    screen.getByText('Schedules follow this definition from 2026-03-01 01:00:00 +01:00 (Europe/Berlin) on.');
    expect(screen.getByRole('button', { name: 'Mon' }).getAttribute('aria-pressed')).toBe('true');
    expect(screen.getByRole('button', { name: 'Wed' }).getAttribute('aria-pressed')).toBe('false');
    await screen.findByText('2026-03-02 09:00 – 17:00', {}, { timeout: SLOW_MS });
    expect(previewed.at(-1)).toEqual({ definition: office.definition, days: 60 });
  });

  it('the page of a calendar previews a year by month', async () => {
    open('/calendars/office');
    await field('Except on');
    press('A year');
    await waitFor(() => expect(previewed.at(-1)).toEqual({ definition: office.definition, days: 366 }));
    await waitFor(() => expect(screen.getAllByRole('img').length).toBe(12));
  });

  it('the page of a calendar saves changes; an invalid line is shown and not sent', async () => {
    server.use(
      http.put(at('calendars/office'), async ({ request }) => {
        sent.push(await request.json());
        if (sent.length === 1)
          return problem(400, 'invalid', 'no', {
            errors: [{ pointer: '/intervals/0', code: 'invalid', detail: 'The interval is empty.' }],
          });
        return HttpResponse.json({ ...office, version: 3, effective_time: '2026-04-01T00:00:00Z' });
      }),
    );
    open('/calendars/office');
    await field('Except on');
    type('Except on', '25.12.2026');
    await screen.findByText('“25.12.2026” is not a date such as 2026-12-24.');
    screen.getByText('No preview: the definition is not valid yet.');
    press('Save');
    type('Except on', '');
    type('Times of day', '09:00-09:00');
    press('Save');
    await screen.findByText('The interval is empty.');
    type('Times of day', '');
    expect(screen.queryByText('The interval is empty.')).toBeNull();
    press('Save');
    await screen.findByText(/follow this definition from 2026-04-01/);
    expect(sent.at(-1)).toEqual({ time_zone: 'Europe/Berlin', weekdays: ['mon', 'tue'] });
    expect(sent.length).toBe(2);
  });

  it('the page of a calendar deletes it after a confirmation and shows a refusal', async () => {
    let tries = 0;
    server.use(
      http.delete(at('calendars/office'), () =>
        ++tries === 1
          ? problem(409, 'in_use', '1 job uses the calendar office.')
          : new HttpResponse(null, { status: 204 }),
      ),
    );
    const router = open('/calendars/office');
    await field('Except on');
    press('Delete');
    const dialog = await screen.findByRole('dialog');
    fireEvent.click(within(dialog).getByRole('button', { name: 'Delete' }));
    await within(dialog).findByText('1 job uses the calendar office.');
    fireEvent.click(within(dialog).getByRole('button', { name: 'Delete' }));
    await waitFor(() => expect(router.state.location.pathname).toBe('/calendars'));
  });

  it('the page of a calendar offers no change to readers', async () => {
    await signedInAs(['read', 'jobs:write:own']);
    open('/calendars/office');
    await field('Except on');
    for (const name of ['Save', 'Delete']) {
      const button = screen.getByRole<HTMLButtonElement>('button', { name });
      expect([button.disabled, button.title]).toEqual([true, 'Only administrators can do this.']);
    }
    await signedInAs(['read', 'config:write']);
  });
});

import {
  RouterProvider,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
} from '@tanstack/react-router';
import { render, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { stringifySearch } from '../../../lib/search_params';
import EventCard from './event_card';

const origin = { id: '42', source: 'shop', type: 'order.paid', subject: '' };

function show(event: typeof origin) {
  const root = createRootRoute();
  const here = createRoute({
    getParentRoute: () => root,
    path: '/',
    component: () => <EventCard event={event} />,
  });
  const router = createRouter({
    routeTree: root.addChildren([here]),
    stringifySearch,
    history: createMemoryHistory({ initialEntries: ['/'] }),
  });
  render(<RouterProvider router={router as never} />);
}

describe('the event of a run', () => {
  it('the card names the event and links to what it started', async () => {
    show(origin);
    await screen.findByText('Started by event');
    for (const value of ['order.paid', 'shop', '42']) expect(screen.getByText(value)).toBeTruthy();
    expect(screen.queryByText('Subject')).toBeNull();
    const link = screen.getByRole<HTMLAnchorElement>('link', { name: 'All it started' });
    expect(new URL(link.href).pathname + new URL(link.href).search).toBe('/events?source=shop&id=42');
  });

  it('the card shows the subject of an event that has one', async () => {
    show({ ...origin, subject: 'invoice 7' });
    await screen.findByText('invoice 7');
    expect(screen.getByText('Subject')).toBeTruthy();
  });
});

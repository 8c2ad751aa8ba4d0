import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { fireEvent, render, screen, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { queryClient } from '../../api/queries';
import { AuditList } from './audit_list';
import { HttpResponse, at, http, server } from '../../../test_support/server';

const entry = (id: string, action: string, changes: unknown) => ({
  id,
  time: '2026-03-01T12:00:00Z',
  actor: 'anna',
  action,
  object_id: 'backup',
  reason: '',
  trace_id: 'abc',
  changes,
});

describe('the audit', () => {
  it('the audit list shows each changed field with its old and new value', async () => {
    const asked: string[] = [];
    server.use(
      http.get(at('audit'), ({ request }) => {
        asked.push(new URL(request.url).searchParams.get('object_id') ?? '');
        return HttpResponse.json({
          next_page_token: null,
          items: [
            entry('2', 'job.patch', [
              { path: '/timeout', from: 60, to: 90 },
              { path: '/env/<b>X</b>', from: null, to: '***' },
            ]),
            entry('1', 'job.execute', null),
          ],
        });
      }),
    );
    const router = createRouter({
      routeTree: createRootRoute({
        component: () => <AuditList filter={{ object_id: 'backup' }} nothing={null} />,
      }),
      history: createMemoryHistory(),
    });
    render(
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>,
    );
    const button = await screen.findByRole('button', { name: 'Fields: 2. Changed a job, backup' });
    expect(screen.getAllByRole('button').length).toBe(1);
    expect(screen.queryByText('/timeout')).toBeNull();
    fireEvent.click(button);
    expect(button.getAttribute('aria-expanded')).toBe('true');
    const rows = within(document.getElementById(button.getAttribute('aria-controls')!)!)
      .getAllByRole('row')
      .slice(1);
    expect(rows.map((row) => [...row.children].map((cell) => cell.textContent))).toEqual([
      ['/timeout', '60', '90'],
      ['/env/<b>X</b>', '–', '***'],
    ]);
    fireEvent.click(button);
    expect(screen.queryByText('/timeout')).toBeNull();
    expect(asked[0]).toBe('backup');
  });
});

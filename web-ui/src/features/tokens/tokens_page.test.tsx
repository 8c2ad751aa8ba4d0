import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { queryClient } from '../../api/queries';
import { signOut } from '../../auth/session';
import { CreateTokenDialog } from './token_dialogs';
import { rolesUpTo, scopesOf } from './token_values';
import { TokensPage } from './tokens_page';
import { signedInAs } from '../../../test_support/person';
import { HttpResponse, ROLES, at, http, problem, server } from '../../../test_support/server';
import '../../ui/dialogs/modal_dialog';

const show = (Page: () => React.ReactNode) => {
  const router = createRouter({
    routeTree: createRootRoute({ component: Page }),
    history: createMemoryHistory(),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
};
beforeEach(async () => {
  queryClient.clear();
  await signedInAs(['read', 'self:manage:own', 'jobs:write:own', 'jobs:run:own']);
});
afterEach(() => signOut());

describe('scopes of a token', () => {
  it('the scopes of a token are limited by its role and its maker', () => {
    expect(scopesOf('read_only', ROLES, undefined)).toEqual(['read', 'self:manage']);
    expect(scopesOf('user', ROLES, ['read', 'jobs:run:own', 'users:manage'])).toEqual(['read', 'jobs:run']);
    expect(scopesOf('admin', ROLES, undefined)).toContain('users:manage');
    expect(scopesOf('other', ROLES, undefined)).toEqual([]);
  });
  it('the roles of a token end at that of its maker', () => {
    expect(rolesUpTo('admin', ROLES)).toEqual(['admin', 'user', 'read_only']);
    expect(rolesUpTo('user', ROLES)).toEqual(['user', 'read_only']);
    expect(rolesUpTo('admin', [])).toEqual(['admin', 'user', 'read_only']);
    expect(rolesUpTo('other', [])).toEqual(['other']);
  });
});

describe('the token dialog', () => {
  it('the token dialog sends scopes only on request, and only those of the role', async () => {
    const bodies: unknown[] = [];
    server.use(
      http.post(at('tokens'), async ({ request }) => {
        bodies.push(await request.json());
        return bodies.length === 3
          ? problem(400, 'invalid', 'no', {
              errors: [{ pointer: '/scopes', code: 'other', detail: 'Name one.' }],
            })
          : HttpResponse.json({ name: 'ci' }, { status: 201 });
      }),
    );
    const onMade = vi.fn();
    show(() => <CreateTokenDialog onClose={() => {}} onMade={onMade} />);
    fireEvent.change(await screen.findByLabelText('Name'), { target: { value: 'ci' } });
    fireEvent.change(screen.getByLabelText('Expires'), { target: { value: 'never' } });
    const save = () => fireEvent.click(screen.getByRole('button', { name: 'Create token' }));
    save();
    await waitFor(() => expect(onMade).toHaveBeenCalledTimes(1));
    fireEvent.click(screen.getByRole('checkbox', { name: /^Restrict to selected/ }));
    screen.getByText(/Select at least one permission/);
    await screen.findByRole('checkbox', { name: 'jobs:run' });
    for (const name of ['jobs:run', 'jobs:write', 'read'])
      fireEvent.click(screen.getByRole('checkbox', { name }));
    fireEvent.change(screen.getByLabelText('Role'), { target: { value: 'read_only' } });
    save();
    await waitFor(() => expect(onMade).toHaveBeenCalledTimes(2));
    fireEvent.click(screen.getByRole('checkbox', { name: 'read' }));
    save();
    expect((await screen.findByRole('alert')).textContent).toContain('Name one.');
    expect(bodies).toEqual([
      { name: 'ci', role: 'user' },
      { name: 'ci', role: 'read_only', scopes: ['read'] },
      { name: 'ci', role: 'read_only', scopes: [] },
    ]);
  });
});

describe('the list', () => {
  it('the list of tokens shows the scopes of each', async () => {
    const token = {
      role: 'user',
      prefix: 'carillon_ab',
      user_id: null,
      create_time: '2026-01-01T00:00:00Z',
      expires_at: null,
      last_used_at: null,
    };
    server.use(
      http.get(at('tokens'), () =>
        HttpResponse.json({
          items: [
            { ...token, token_id: 'tok-1', name: 'ci', scopes: ['jobs:run', 'read'] },
            { ...token, token_id: 'tok-2', name: 'all', scopes: null },
          ],
          next_page_token: null,
        }),
      ),
      http.get(at('users'), () => HttpResponse.json({ items: [], next_page_token: null })),
    );
    show(TokensPage);
    await screen.findByText('jobs:run, read');
    screen.getByText('All permissions of the role');
  });
});

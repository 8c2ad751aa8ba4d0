import '../../../test_support/texts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { queryClient } from '../../api/queries';
import type { Secret } from '../../api/types';
import { CreateSecretDialog, DeleteSecretDialog, EditSecretDialog } from './secret_dialogs';
import { changeOf, mayChange, mayShare } from './secret_values';
import { SecretsPage } from './secrets_page';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';
import '../../ui/dialogs/modal_dialog';

// A secret from an older server, which does not send allowed_actions.
const secret = {
  name: 'shop_db',
  description: 'the shop',
  shared: false,
  user_id: 'user-1',
  version: 3,
  create_time: '2026-01-01T00:00:00Z',
  update_time: '2026-01-02T00:00:00Z',
} as Secret;
const show = (element: React.ReactElement) =>
  render(<QueryClientProvider client={queryClient}>{element}</QueryClientProvider>);
const person = (user_id: string, permission: string) => ({
  kind: 'user',
  user_id,
  name: 'x',
  display_name: '',
  role: 'user',
  permissions: [permission],
});
beforeEach(() => queryClient.clear());

describe('a secret', () => {
  it('changeOf contains only the changed members of a secret', () => {
    expect(changeOf(secret, '', 'the shop', false)).toEqual({});
    expect(changeOf(secret, 'correct horse', '', true)).toEqual({
      value: 'correct horse',
      description: '',
      shared: true,
    });
  });
  it('a secret is changed by its owner or an administrator; only administrators share', () => {
    const all = person('user-2', 'secrets:write');
    const own = person('user-1', 'secrets:write:own');
    expect([mayChange(all, secret), mayChange(own, secret), mayChange(null, secret)]).toEqual([
      true,
      true,
      true,
    ]);
    expect([
      mayChange(person('user-2', 'secrets:write:own'), secret),
      mayChange(person('user-1', 'read'), secret),
    ]).toEqual([false, false]);
    expect([mayShare(all), mayShare(own), mayShare(null)]).toEqual([true, false, true]);
  });
  it('the create dialog sends the exact value, conceals it and shows a refusal', async () => {
    const seen: unknown[] = [];
    server.use(
      http.post(at('secrets'), async ({ request }) => {
        seen.push(await request.json());
        return seen.length === 1
          ? problem(400, 'invalid', 'no', {
              errors: [{ pointer: '/value', code: 'too_short', detail: 'At least 8 bytes.' }],
            })
          : HttpResponse.json(secret, { status: 201 });
      }),
    );
    const onDone = vi.fn();
    show(<CreateSecretDialog onClose={() => {}} onDone={onDone} />);
    fireEvent.change(await screen.findByLabelText('Name'), { target: { value: ' shop_db ' } });
    const value = screen.getByLabelText<HTMLTextAreaElement>('Value');
    expect(value.className).toContain('concealed');
    fireEvent.change(value, { target: { value: 'short' } });
    fireEvent.click(screen.getByRole('button', { name: 'Create secret' }));
    expect((await screen.findByRole('alert')).textContent).toBe('At least 8 bytes.');
    fireEvent.change(value, { target: { value: ' two\nlines \n' } });
    fireEvent.click(screen.getByRole('button', { name: 'Create secret' }));
    await waitFor(() => expect(onDone).toHaveBeenCalledOnce());
    expect(seen.at(-1)).toEqual({ name: 'shop_db', value: ' two\nlines \n', description: '', shared: false });
  });
  it('the edit dialog sends the version that was seen, and no value when none was typed', async () => {
    const seen: unknown[] = [];
    server.use(
      http.put(at('secrets/shop_db'), async ({ request }) => {
        seen.push(request.headers.get('If-Match'), await request.json());
        return HttpResponse.json(secret);
      }),
    );
    const onDone = vi.fn();
    show(<EditSecretDialog secret={secret} onClose={() => {}} onDone={onDone} />);
    expect((await screen.findByLabelText<HTMLTextAreaElement>('New value (optional)')).value).toBe('');
    fireEvent.change(screen.getByLabelText('Description (optional)'), { target: { value: 'the new shop' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(onDone).toHaveBeenCalledOnce());
    expect(seen).toEqual(['"v3"', { description: 'the new shop' }]);
  });
  it('the delete dialog asks first and shows a refusal', async () => {
    let tries = 0;
    server.use(
      http.delete(at('secrets/shop_db'), ({ request }) => {
        expect(request.headers.get('If-Match')).toBe('"v3"');
        return ++tries === 1
          ? problem(412, 'stale_version', 'It is at version 4 now.')
          : new HttpResponse(null, { status: 204 });
      }),
    );
    const onDone = vi.fn();
    show(<DeleteSecretDialog secret={secret} onClose={() => {}} onDone={onDone} />);
    fireEvent.click(await screen.findByRole('button', { name: 'Delete' }));
    expect((await screen.findByRole('alert')).textContent).toBe('It is at version 4 now.');
    expect(onDone).not.toHaveBeenCalled();
    fireEvent.click(screen.getByRole('button', { name: 'Delete' }));
    await waitFor(() => expect(onDone).toHaveBeenCalledOnce());
  });
});

describe('the page of secrets', () => {
  const page = () => {
    const router = createRouter({
      routeTree: createRootRoute({ component: SecretsPage }),
      history: createMemoryHistory(),
    });
    return show(<RouterProvider router={router as never} />);
  };
  it('the list of secrets shows no values, and how a job names one', async () => {
    server.use(
      http.get(at('secrets'), () =>
        HttpResponse.json({
          items: [secret, { ...secret, name: 'mail', shared: true }],
          next_page_token: null,
        }),
      ),
      http.get(at('users'), () => HttpResponse.json({ items: [], next_page_token: null })),
    );
    page();
    expect((await screen.findByText('shop_db')).closest('tr')!.textContent).toContain('Jobs of the owner');
    expect(screen.getByText('mail').closest('tr')!.textContent).toContain('All jobs');
    expect(document.body.textContent).toContain('{{secrets.NAME}}');
    expect(screen.getByRole('button', { name: 'Edit shop_db' })).toBeTruthy();
  });
  it('the list of secrets shows why it cannot be loaded', async () => {
    server.use(http.get(at('secrets'), () => problem(403, 'forbidden', 'The permission read is missing.')));
    page();
    await screen.findByText('The permission read is missing.');
  });
});

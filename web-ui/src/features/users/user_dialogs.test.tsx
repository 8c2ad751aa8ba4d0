import '../../../test_support/texts';
import { QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { queryClient } from '../../api/queries';
import type { ApiToken, User } from '../../api/types';
import { MadeTokenDialog } from '../tokens/token_dialogs';
import { expiryOf } from '../tokens/token_values';
import { DeleteUserDialog, EditUserDialog } from './user_dialogs';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';

const anna = {
  user_id: 'user-1',
  name: 'anna',
  display_name: 'Anna',
  role: 'admin',
  disabled: false,
  version: 3,
  create_time: '2026-01-01T00:00:00Z',
  update_time: '2026-01-01T00:00:00Z',
} as User;
const token = {
  token_id: 'tok-1',
  name: 'ci',
  role: 'user',
  prefix: 'carillon_ab',
  user_id: null,
  token: 'carillon_abcdef',
  create_time: '2026-01-01T00:00:00Z',
  expires_at: null,
  last_used_at: null,
} as ApiToken & { token: string };
const show = (element: React.ReactElement) =>
  render(<QueryClientProvider client={queryClient}>{element}</QueryClientProvider>);
afterEach(() => vi.unstubAllGlobals());

describe('a token', () => {
  const now = Date.parse('2026-03-01T12:00:00Z');
  it('a token expires after days, at the end of a date, or never', () => {
    expect(expiryOf('7', '', now)).toBe('2026-03-08T12:00:00.000Z');
    expect(expiryOf('date', '2026-03-31', now)).toBe('2026-04-01T00:00:00.000Z');
    expect(expiryOf('never', '2026-03-31', now)).toBeNull();
  });
  it('a token with an invalid date is sent for the server to refuse', () => {
    expect(expiryOf('date', '', now)).toBe('-');
    expect(expiryOf('date', 'soon', now)).toBe('soon');
  });
  it('a new token is shown whole, and selected when the clipboard is closed', async () => {
    vi.stubGlobal('navigator', {
      ...navigator,
      clipboard: { writeText: () => Promise.reject(new Error('no')) },
    });
    show(<MadeTokenDialog token={token} onClose={() => {}} />);
    const field = await screen.findByDisplayValue<HTMLInputElement>('carillon_abcdef');
    fireEvent.click(screen.getByRole('button', { name: 'Copy' }));
    await waitFor(() => expect(field.selectionEnd).toBe(token.token.length));
    expect(screen.queryByText('Copied')).toBeNull();
  });
});

describe('a user', () => {
  it('the edit dialog sends the version that was seen, and shows the refusal of the last administrator', async () => {
    const seen: unknown[] = [];
    server.use(
      http.patch(at('users/user-1'), async ({ request }) => {
        seen.push(request.headers.get('If-Match'), await request.json());
        return problem(409, 'last_admin', 'This is the last administrator.');
      }),
    );
    const onDone = vi.fn();
    show(<EditUserDialog user={anna} onClose={() => {}} onDone={onDone} />);
    fireEvent.change(await screen.findByLabelText('Role'), { target: { value: 'user' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    expect((await screen.findByRole('alert')).textContent).toContain('This is the last administrator.');
    expect(seen).toEqual(['"v3"', { display_name: 'Anna', role: 'user', disabled: false }]);
    expect(onDone).not.toHaveBeenCalled();
  });
  it('the delete dialog deletes a user after a confirmation', async () => {
    server.use(http.delete(at('users/user-1'), () => new HttpResponse(null, { status: 204 })));
    const onDone = vi.fn();
    show(<DeleteUserDialog user={anna} onClose={() => {}} onDone={onDone} />);
    fireEvent.click(await screen.findByRole('button', { name: 'Delete' }));
    await waitFor(() => expect(onDone).toHaveBeenCalledOnce());
  });
});

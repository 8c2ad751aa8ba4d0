import '../../../test_support/texts';
import { QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { queryClient } from '../../api/queries';
import type { User } from '../../api/types';
import { signOut } from '../../auth/session';
import { AccountPage } from '../account/account_page';
import { pointersOf, sameShares, sharesFrom } from './share_values';
import { CreateUserDialog, EditUserDialog } from './user_dialogs';
import { signedInAs } from '../../../test_support/person';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';
import '../../ui/dialogs/modal_dialog';

const uma = {
  user_id: 'user-2',
  name: 'uma',
  display_name: '',
  role: 'user',
  disabled: false,
  version: 3,
  shares: [{ namespace: 'payroll' }],
  create_time: '2026-01-01T00:00:00Z',
  update_time: '2026-01-01T00:00:00Z',
} as User;
const show = (element: React.ReactElement) =>
  render(<QueryClientProvider client={queryClient}>{element}</QueryClientProvider>);
beforeEach(() => queryClient.clear());
afterEach(() => signOut());

describe('shares', () => {
  it('shares are read from the rows without empty members', () => {
    expect(
      sharesFrom([
        { namespace: ' payroll ', selector: ' ' },
        { namespace: '', selector: '' },
        { namespace: '*', selector: 'team = etl' },
      ]),
    ).toEqual([{ namespace: 'payroll' }, { namespace: '*', selector: 'team = etl' }]);
    // The form sends a row without a namespace. The server then refuses it, and the error appears at the row.
    expect(sharesFrom([{ namespace: '', selector: 'team = etl' }])).toEqual([
      { namespace: '', selector: 'team = etl' },
    ]);
    expect(sameShares([{ namespace: 'a', selector: '' }], [{ namespace: 'a' }])).toBe(true);
    expect(pointersOf([{ namespace: 'a' }])).toEqual([
      '/shares',
      '/shares/0',
      '/shares/0/namespace',
      '/shares/0/selector',
    ]);
  });

  const seen: { shares?: object }[] = [];
  const patched = (answer: () => Response) => {
    seen.length = 0;
    server.use(
      http.patch(at('users/user-2'), async ({ request }) => {
        seen.push((await request.json()) as object);
        return answer();
      }),
    );
  };
  const edit = async (user: User, onDone: () => void = () => {}) => {
    show(<EditUserDialog user={user} onClose={() => {}} onDone={onDone} />);
    return within(await screen.findByRole('dialog'));
  };
  const row = (dialog: ReturnType<typeof within>, n: number) =>
    within(dialog.getByRole('group', { name: 'Share ' + n }));

  it('shares are added and removed, and sent only when changed', async () => {
    patched(() => HttpResponse.json(uma));
    const onDone = vi.fn();
    const dialog = await edit(uma, onDone);
    fireEvent.click(dialog.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(onDone).toHaveBeenCalledOnce());
    expect(seen[0]).not.toHaveProperty('shares');
    fireEvent.click(dialog.getByRole('button', { name: 'Add a share' }));
    fireEvent.change(row(dialog, 2).getByLabelText('Namespace'), { target: { value: 'default' } });
    fireEvent.change(row(dialog, 2).getByLabelText('Labels (empty: all jobs)'), {
      target: { value: 'team = etl' },
    });
    fireEvent.click(dialog.getByRole('button', { name: 'Remove share 1' }));
    expect(document.activeElement).toBe(dialog.getByRole('button', { name: 'Add a share' }));
    fireEvent.click(dialog.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(seen).toHaveLength(2));
    expect(seen[1]!.shares).toEqual([{ namespace: 'default', selector: 'team = etl' }]);
  });

  it('a refused share shows the reason at its field, even after an empty row', async () => {
    patched(() =>
      problem(400, 'invalid', 'no', {
        errors: [
          { pointer: '/shares/1/selector', code: 'bad_selector', detail: 'There is no value behind =.' },
        ],
      }),
    );
    const dialog = await edit(uma);
    fireEvent.click(dialog.getByRole('button', { name: 'Add a share' }));
    fireEvent.click(dialog.getByRole('button', { name: 'Add a share' }));
    fireEvent.change(row(dialog, 3).getByLabelText('Namespace'), { target: { value: 'default' } });
    fireEvent.change(row(dialog, 3).getByLabelText('Labels (empty: all jobs)'), {
      target: { value: 'team =' },
    });
    fireEvent.click(dialog.getByRole('button', { name: 'Save' }));
    await dialog.findByText('There is no value behind =.');
    expect(seen[0]!.shares).toEqual([{ namespace: 'payroll' }, { namespace: 'default', selector: 'team =' }]);
    const field = row(dialog, 2).getByLabelText('Labels (empty: all jobs)');
    expect([field.getAttribute('aria-invalid'), (field as HTMLInputElement).value]).toEqual([
      'true',
      'team =',
    ]);
  });

  it('shares are hidden for administrators without any', async () => {
    const dialog = await edit({ ...uma, role: 'admin', shares: [] });
    expect(dialog.queryByRole('button', { name: 'Add a share' })).toBeNull();
    fireEvent.change(dialog.getByLabelText('Role'), { target: { value: 'user' } });
    expect(dialog.getByRole('button', { name: 'Add a share' })).toBeTruthy();
  });

  it('shares are given to a new user', async () => {
    let body: object = {};
    server.use(
      http.post(at('users'), async ({ request }) => {
        body = (await request.json()) as object;
        return HttpResponse.json(uma, { status: 201 });
      }),
    );
    show(<CreateUserDialog onClose={() => {}} onDone={() => {}} />);
    const dialog = within(await screen.findByRole('dialog'));
    fireEvent.click(dialog.getByRole('button', { name: 'Add a share' }));
    fireEvent.change(row(dialog, 1).getByLabelText('Namespace'), { target: { value: 'payroll' } });
    fireEvent.click(dialog.getByRole('button', { name: 'Create user' }));
    await waitFor(() => expect(body).toMatchObject({ shares: [{ namespace: 'payroll' }] }));
  });
});

describe('the account', () => {
  const factOf = (name: string) => screen.getByText(name).nextElementSibling!.textContent;
  it('the account page lists the shares', async () => {
    await signedInAs(['read'], {
      shares: [
        { namespace: 'payroll' },
        { namespace: 'default', selector: 'team = etl' },
        { namespace: '*', selector: 'tier' },
      ],
    });
    show(<AccountPage />);
    expect(factOf('Shared with you')).toBe('payroll: all jobsdefault: team = etlAll namespaces: tier');
  });
  it('the account page distinguishes no shares from an older server', async () => {
    await signedInAs(['read'], { shares: [] });
    const { unmount } = show(<AccountPage />);
    expect(factOf('Shared with you')).toBe('None');
    unmount();
    await signedInAs(['read']);
    show(<AccountPage />);
    expect(screen.queryByText('Shared with you')).toBeNull();
  });
});

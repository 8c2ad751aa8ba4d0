// Page of the users and their roles.
import '../account/texts.en';
import '../jobs/list/texts.en';
import './texts.en';
import { useQueryClient } from '@tanstack/react-query';
import { KeyRound, Pencil, Plus, Trash2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { itemsOf, useUsers } from '../../api/queries';
import type { User } from '../../api/types';
import { useMay } from '../../auth/session';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { DataTable, type Column } from '../../ui/data_table';
import { StateBadge } from '../../ui/state_badge';
import { Time } from '../../ui/time';
import { ListCard } from '../../ui/list_card';
import { EmptyYet, PageHeader } from '../../ui/ui';
import { AdminTabs } from '../admin/admin_tabs';
import { useShareText } from './share_text';
import { CreateUserDialog, DeleteUserDialog, EditUserDialog, PasswordDialog } from './user_dialogs';

type Open = { what: 'create' } | { what: 'edit' | 'password' | 'delete'; user: User } | null;

export function UsersPage() {
  const { t } = useTranslation();
  const may = useMay('users:manage');
  const client = useQueryClient();
  const users = useUsers();
  const items = itemsOf(users.data);
  const [open, setOpen] = useState<Open>(null);
  const onClose = () => setOpen(null);
  // Reloads the list even after a refusal, because a change by another user may have caused the refusal.
  const reload = () => void client.invalidateQueries({ queryKey: ['users'] });
  const onDone = () => {
    onClose();
    reload();
  };
  const create = (
    <button
      type="button"
      className="button button-primary"
      disabled={!may}
      title={may ? undefined : t('denied.users')}
      onClick={() => setOpen({ what: 'create' })}
    >
      <Plus aria-hidden size={16} />
      {t('users.new')}
    </button>
  );
  return (
    <>
      <PageHeader
        title={t('admin.users')}
        documentTitle={t('admin.users')}
        under={t('users.under')}
        actions={create}
      />
      <AdminTabs />
      <ListCard
        query={users}
        empty={<EmptyYet title={t('users.none')} hint={t('users.none_hint')} action={create} />}
      >
        {items.length > 0 && <UsersTable users={items} onOpen={setOpen} />}
      </ListCard>
      {open?.what === 'create' && <CreateUserDialog onClose={onClose} onDone={onDone} />}
      {open?.what === 'edit' && (
        <EditUserDialog
          user={open.user}
          onClose={() => {
            onClose();
            reload();
          }}
          onDone={onDone}
        />
      )}
      {open?.what === 'password' && <PasswordDialog user={open.user} onClose={onClose} onDone={onDone} />}
      {open?.what === 'delete' && (
        <DeleteUserDialog
          user={open.user}
          onClose={() => {
            onClose();
            reload();
          }}
          onDone={onDone}
        />
      )}
    </>
  );
}

const iconButton = (label: string, icon: ReactNode, onClick: () => void, danger = false) => (
  <button
    type="button"
    className={'button button-plain button-icon' + (danger ? ' button-danger' : '')}
    aria-label={label}
    title={label}
    onClick={onClick}
  >
    {icon}
  </button>
);

function SharedWith({ user }: { user: User }) {
  const shareText = useShareText();
  if (!user.shares?.length) return null;
  return (
    <ul className="text-xs text-muted wrap-anywhere">
      {user.shares.map((share) => (
        <li key={shareText(share)}>{shareText(share)}</li>
      ))}
    </ul>
  );
}

function UsersTable({ users, onOpen }: { users: User[]; onOpen: (open: Open) => void }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const columns: Column<User>[] = [
    {
      id: 'name',
      header: t('auth.name'),
      cell: (user) => (
        <div>
          <span className="font-medium">{user.name}</span>
          {user.display_name && <div className="text-muted">{user.display_name}</div>}
        </div>
      ),
    },
    {
      id: 'role',
      header: t('users.role'),
      cell: (user) => (
        <>
          {textOr('role.', user.role)}
          <SharedWith user={user} />
        </>
      ),
    },
    {
      id: 'state',
      header: t('jobs.state'),
      cell: (user) => <StateBadge state={user.disabled ? 'DISABLED' : 'ENABLED'} />,
    },
    { id: 'created', header: t('jobs.created'), cell: (user) => <Time at={user.create_time} /> },
    { id: 'changed', header: t('jobs.changed'), cell: (user) => <Time at={user.update_time} /> },
    {
      id: 'actions',
      header: <span className="sr-only">{t('actions')}</span>,
      cell: (user) => (
        <div className="flex justify-end gap-1">
          {iconButton(t('users.edit_named', { name: user.name }), <Pencil aria-hidden size={15} />, () =>
            onOpen({ what: 'edit', user }),
          )}
          {iconButton(t('users.password_of', { name: user.name }), <KeyRound aria-hidden size={15} />, () =>
            onOpen({ what: 'password', user }),
          )}
          {iconButton(
            t('users.delete_named', { name: user.name }),
            <Trash2 aria-hidden size={15} />,
            () => onOpen({ what: 'delete', user }),
            true,
          )}
        </div>
      ),
    },
  ];
  return <DataTable label={t('admin.users')} columns={columns} rows={users} rowId={(user) => user.user_id} />;
}

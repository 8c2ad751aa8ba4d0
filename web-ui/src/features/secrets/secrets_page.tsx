// Page of the secrets for jobs. It shows everything except the values.
import './texts.en';
import { useQueryClient } from '@tanstack/react-query';
import { Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { itemsOf, useSecrets } from '../../api/queries';
import type { Secret } from '../../api/types';
import { useMay, useSession } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { DataTable, type Column } from '../../ui/data_table';
import { Time } from '../../ui/time';
import { ListCard } from '../../ui/list_card';
import { EmptyYet, PageHeader } from '../../ui/ui';
import { AdminTabs } from '../admin/admin_tabs';
import { useOwnerName } from '../users/owner_name';
import { CreateSecretDialog, DeleteSecretDialog, EditSecretDialog } from './secret_dialogs';
import { mayChange } from './secret_values';

type Open = { what: 'create' } | { what: 'edit' | 'delete'; secret: Secret } | null;

// The placeholder that a job uses. It is not in the catalogues of texts, because i18next would
// replace the braces.
const FORM = '{{secrets.NAME}}';

export function SecretsPage() {
  const { t } = useTranslation();
  const may = useMay('secrets:write');
  const client = useQueryClient();
  const secrets = useSecrets();
  const items = itemsOf(secrets.data);
  const [open, setOpen] = useState<Open>(null);
  // Reloads the list even after a refusal, because a change by another user may have caused the refusal.
  const onClose = () => {
    setOpen(null);
    void client.invalidateQueries({ queryKey: ['secrets'] });
  };
  const create = (
    <button
      type="button"
      className="button button-primary"
      disabled={!may}
      title={may ? undefined : t('denied.write')}
      onClick={() => setOpen({ what: 'create' })}
    >
      <Plus aria-hidden size={16} />
      {t('secrets.new')}
    </button>
  );
  return (
    <>
      <PageHeader
        title={t('admin.secrets')}
        documentTitle={t('admin.secrets')}
        under={t('secrets.under', { form: FORM })}
        actions={create}
      />
      <AdminTabs />
      <ListCard
        query={secrets}
        empty={
          <EmptyYet
            title={t('secrets.none')}
            hint={t('secrets.none_hint')}
            action={create}
            command="carillon secret set shop_db < password.txt"
          />
        }
      >
        {items.length > 0 && <SecretsTable secrets={items} onOpen={setOpen} />}
      </ListCard>
      {open?.what === 'create' && <CreateSecretDialog onClose={onClose} onDone={onClose} />}
      {open?.what === 'edit' && <EditSecretDialog secret={open.secret} onClose={onClose} onDone={onClose} />}
      {open?.what === 'delete' && (
        <DeleteSecretDialog secret={open.secret} onClose={onClose} onDone={onClose} />
      )}
    </>
  );
}

function SecretsTable({ secrets, onOpen }: { secrets: Secret[]; onOpen: (open: Open) => void }) {
  const { t } = useTranslation();
  const session = useSession();
  const person = session.state === 'signed_in' ? session.person : null;
  const ownerOf = useOwnerName();
  const columns: Column<Secret>[] = [
    {
      id: 'name',
      header: t('auth.name'),
      cell: (secret) => (
        <div className="min-w-40">
          <span className="mono font-medium">{secret.name}</span>
          {secret.description && <div className="text-muted">{secret.description}</div>}
        </div>
      ),
    },
    {
      id: 'use',
      header: t('secrets.use'),
      cell: (secret) => t(secret.shared ? 'secrets.use_all' : 'secrets.use_own'),
    },
    { id: 'owner', header: t('jobs.owner'), cell: (secret) => ownerOf(secret.user_id) },
    { id: 'created', header: t('jobs.created'), cell: (secret) => <Time at={secret.create_time} /> },
    { id: 'changed', header: t('jobs.changed'), cell: (secret) => <Time at={secret.update_time} /> },
    {
      id: 'actions',
      header: <span className="sr-only">{t('actions')}</span>,
      cell: (secret) => {
        const may = mayChange(person, secret);
        const why = (label: string) => (may ? label : t('secrets.only_own'));
        const [edit, remove] = [
          t('secrets.edit_named', { name: secret.name }),
          t('secrets.delete_named', { name: secret.name }),
        ];
        return (
          <div className="flex justify-end gap-1">
            <button
              type="button"
              className="button button-plain button-icon"
              aria-label={edit}
              title={why(edit)}
              disabled={!may}
              onClick={() => onOpen({ what: 'edit', secret })}
            >
              <Pencil aria-hidden size={15} />
            </button>
            <button
              type="button"
              className="button button-plain button-icon button-danger"
              aria-label={remove}
              title={why(remove)}
              disabled={!may}
              onClick={() => onOpen({ what: 'delete', secret })}
            >
              <Trash2 aria-hidden size={15} />
            </button>
          </div>
        );
      },
    },
  ];
  return (
    <DataTable label={t('admin.secrets')} columns={columns} rows={secrets} rowId={(secret) => secret.name} />
  );
}

// Page of API tokens. Users see their own tokens, administrators see all tokens.
import '../account/texts.en';
import './texts.en';
import '../users/texts.en';
import { useQueryClient } from '@tanstack/react-query';
import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { itemsOf, useTokens } from '../../api/queries';
import type { ApiToken } from '../../api/types';
import { useMay } from '../../auth/session';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { useNow } from '../../lib/clock';
import { DataTable, type Column } from '../../ui/data_table';
import { Time } from '../../ui/time';
import { ListCard } from '../../ui/list_card';
import { EmptyYet, PageHeader } from '../../ui/ui';
import { AdminTabs } from '../admin/admin_tabs';
import { useOwnerName } from '../users/owner_name';
import { CreateTokenDialog, MadeTokenDialog, RevokeTokenDialog } from './token_dialogs';

type Open =
  | { what: 'create' }
  | { what: 'made'; token: ApiToken & { token: string } }
  | { what: 'revoke'; token: ApiToken }
  | null;

export function TokensPage() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const all = useMay('users:manage');
  const tokens = useTokens();
  const items = itemsOf(tokens.data);
  const [open, setOpen] = useState<Open>(null);
  const reload = () => void client.invalidateQueries({ queryKey: ['tokens'] });
  const onClose = () => setOpen(null);
  const create = (
    <button type="button" className="button button-primary" onClick={() => setOpen({ what: 'create' })}>
      <Plus aria-hidden size={16} />
      {t('tokens.new')}
    </button>
  );
  return (
    <>
      <PageHeader
        title={t('admin.tokens')}
        documentTitle={t('admin.tokens')}
        under={all ? t('tokens.under_all') : t('tokens.under')}
        actions={create}
      />
      <AdminTabs />
      <ListCard
        query={tokens}
        empty={<EmptyYet title={t('tokens.none')} hint={t('tokens.none_hint')} action={create} />}
      >
        {items.length > 0 && (
          <TokensTable tokens={items} onRevoke={(token) => setOpen({ what: 'revoke', token })} />
        )}
      </ListCard>
      {open?.what === 'create' && (
        <CreateTokenDialog
          onClose={onClose}
          onMade={(token) => {
            setOpen({ what: 'made', token });
            reload();
          }}
        />
      )}
      {open?.what === 'made' && <MadeTokenDialog token={open.token} onClose={onClose} />}
      {open?.what === 'revoke' && (
        <RevokeTokenDialog
          token={open.token}
          onClose={onClose}
          onDone={() => {
            onClose();
            reload();
          }}
        />
      )}
    </>
  );
}

function TokensTable({ tokens, onRevoke }: { tokens: ApiToken[]; onRevoke: (token: ApiToken) => void }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const ownerOf = useOwnerName();
  const now = useNow();
  const ended = (token: ApiToken) => token.expires_at !== null && Date.parse(token.expires_at) <= now;
  const columns: Column<ApiToken>[] = [
    {
      id: 'name',
      header: t('tokens.name'),
      cell: (token) => (
        <div>
          <span className="font-medium">{token.name}</span>
          <div className="mono text-muted">{token.prefix}…</div>
        </div>
      ),
    },
    { id: 'role', header: t('users.role'), cell: (token) => textOr('role.', token.role) },
    {
      id: 'scopes',
      header: t('scopes.column'),
      cell: (token) =>
        token.scopes ? (
          <span className="mono">{token.scopes.join(', ')}</span>
        ) : (
          <span className="text-muted">{t('scopes.all')}</span>
        ),
    },
    { id: 'owner', header: t('jobs.owner'), cell: (token) => ownerOf(token.user_id) },
    {
      id: 'used',
      header: t('tokens.last_used'),
      cell: (token) =>
        token.last_used_at ? (
          <Time at={token.last_used_at} />
        ) : (
          <span className="text-muted">{t('tokens.never_used')}</span>
        ),
    },
    {
      id: 'expires',
      header: t('tokens.expires'),
      cell: (token) =>
        token.expires_at === null ? (
          <span className="text-muted">{t('lifetime.never')}</span>
        ) : (
          <span className={ended(token) ? 'text-bad' : ''}>
            {ended(token) && t('tokens.ended') + ' '}
            <Time at={token.expires_at} />
          </span>
        ),
    },
    { id: 'created', header: t('jobs.created'), cell: (token) => <Time at={token.create_time} /> },
    {
      id: 'actions',
      header: <span className="sr-only">{t('actions')}</span>,
      cell: (token) => (
        <button
          type="button"
          className="button button-danger"
          aria-label={t('tokens.revoke_named', { name: token.name })}
          onClick={() => onRevoke(token)}
        >
          <Trash2 aria-hidden size={15} />
          {t('tokens.revoke')}
        </button>
      ),
    },
  ];
  return (
    <DataTable label={t('admin.tokens')} columns={columns} rows={tokens} rowId={(token) => token.token_id} />
  );
}

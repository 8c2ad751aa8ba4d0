// Page of the concurrency groups. Everybody sees them; administrators change them.
import './texts.en';
import '../executors/texts.en';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useGroups } from '../../api/groups';
import type { Group } from '../../api/types';
import { AdminTabs } from '../admin/admin_tabs';
import { useMay } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { count, countdown } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { DataTable, type Column } from '../../ui/data_table';
import { Time } from '../../ui/time';
import { ListCard } from '../../ui/list_card';
import { EmptyYet, PageHeader } from '../../ui/ui';
import { CreateGroupDialog, DeleteGroupDialog, SetLimitDialog } from './group_dialogs';

type Open = { what: 'create' } | { what: 'limit' | 'delete'; group: Group } | null;

export function GroupsPage() {
  const { t } = useTranslation();
  const may = useMay('config:write');
  const client = useQueryClient();
  const groups = useGroups();
  const items = groups.data?.items ?? [];
  const [open, setOpen] = useState<Open>(null);
  // Reloads the list even after a refusal, because a change by another user may have caused the refusal.
  const onClose = () => {
    setOpen(null);
    void client.invalidateQueries({ queryKey: ['groups'] });
  };
  const create = (
    <button
      type="button"
      className="button button-primary"
      disabled={!may}
      title={may ? undefined : t('denied.admin')}
      onClick={() => setOpen({ what: 'create' })}
    >
      <Plus aria-hidden size={16} />
      {t('groups.new')}
    </button>
  );
  return (
    <>
      <PageHeader
        title={t('groups.title')}
        documentTitle={t('groups.title')}
        under={t('groups.under')}
        actions={create}
      />
      <AdminTabs />
      <ListCard
        query={groups}
        empty={
          <EmptyYet
            title={t('groups.none')}
            hint={t('groups.none_hint')}
            command="carillon group set db --limit 3"
          />
        }
      >
        {items.length > 0 && <GroupsTable groups={items} may={may} onOpen={setOpen} />}
      </ListCard>
      {open?.what === 'create' && (
        <CreateGroupDialog taken={items.map((one) => one.name)} onClose={onClose} onDone={onClose} />
      )}
      {open?.what === 'limit' && <SetLimitDialog group={open.group} onClose={onClose} onDone={onClose} />}
      {open?.what === 'delete' && <DeleteGroupDialog group={open.group} onClose={onClose} onDone={onClose} />}
    </>
  );
}

function GroupsTable(props: { groups: Group[]; may: boolean; onOpen: (open: Open) => void }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const number = (id: 'running' | 'queued' | 'jobs'): Column<Group> => ({
    id,
    header: t(`groups.${id}`),
    cell: (group) => <span className="tabular-nums">{count(group[id], language)}</span>,
  });
  const columns: Column<Group>[] = [
    {
      id: 'name',
      header: t('auth.name'),
      cell: (group) => (
        <Link to="/groups/$name" params={{ name: group.name }} className="link mono font-medium">
          {group.name}
        </Link>
      ),
    },
    {
      id: 'limit',
      header: t('groups.limit'),
      cell: (group) => (
        <span className="tabular-nums">
          {count(group.limit, language)}
          {group.per_s > 0 && ` / ${countdown(group.per_s, language)}`}
        </span>
      ),
    },
    number('running'),
    number('queued'),
    number('jobs'),
    { id: 'changed', header: t('jobs.changed'), cell: (group) => <Time at={group.update_time} /> },
    {
      id: 'actions',
      header: <span className="sr-only">{t('actions')}</span>,
      cell: (group) => {
        const why = (label: string) => (props.may ? label : t('denied.admin'));
        const [limit, remove] = [
          t('groups.set_limit_of', { name: group.name }),
          t('groups.delete_named', { name: group.name }),
        ];
        return (
          <div className="flex justify-end gap-1">
            <button
              type="button"
              className="button button-plain button-icon"
              aria-label={limit}
              title={why(limit)}
              disabled={!props.may}
              onClick={() => props.onOpen({ what: 'limit', group })}
            >
              <Pencil aria-hidden size={15} />
            </button>
            <button
              type="button"
              className="button button-plain button-icon button-danger"
              aria-label={remove}
              title={why(remove)}
              disabled={!props.may}
              onClick={() => props.onOpen({ what: 'delete', group })}
            >
              <Trash2 aria-hidden size={15} />
            </button>
          </div>
        );
      },
    },
  ];
  return (
    <DataTable
      label={t('groups.title')}
      columns={columns}
      rows={props.groups}
      rowId={(group) => group.name}
    />
  );
}

// Page of one concurrency group: the runs that hold its slots, and those that wait for one.
import './texts.en';
import '../executors/texts.en';
import { useQueryClient } from '@tanstack/react-query';
import { Link, getRouteApi, useNavigate } from '@tanstack/react-router';
import { Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useGroup } from '../../api/groups';
import type { GroupDetail } from '../../api/types';
import { useMay } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { countdown } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { DataTable, type Column } from '../../ui/data_table';
import { StateBadge } from '../../ui/state_badge';
import { Time } from '../../ui/time';
import { Card, LoadFailure, Loading, PageHeader } from '../../ui/ui';
import { DeleteGroupDialog, SetLimitDialog } from './group_dialogs';

const route = getRouteApi('/groups/$name');

type Holder = GroupDetail['holders'][number];
type Queued = GroupDetail['queue'][number];

export function GroupPage() {
  const { t } = useTranslation();
  const { name } = route.useParams();
  const group = useGroup(name);
  if (group.isPending) return <Loading />;
  if (!group.data)
    return (
      <LoadFailure
        error={group.error}
        onRetry={() => void group.refetch()}
        back={
          <Link to="/groups" className="button">
            {t('groups.title')}
          </Link>
        }
      />
    );
  return <Known group={group.data} />;
}

function Known({ group }: { group: GroupDetail }) {
  const { t } = useTranslation();
  return (
    <>
      <PageHeader
        documentTitle={group.name}
        title={group.name}
        under={
          <>
            {t('groups.slots', { taken: group.running, max: group.limit })} ·{' '}
            {t('groups.named_by', { count: group.jobs })}
            {group.per_s > 0 && <Rate group={group} />}
          </>
        }
        actions={<Actions group={group} />}
      />
      <div className="grid gap-4">
        <Holders group={group} />
        <Queue group={group} />
      </div>
    </>
  );
}

function Rate({ group }: { group: GroupDetail }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  return (
    <>
      {' · '}
      {t('groups.rate', { max: group.limit, per: countdown(group.per_s, language) })}
      {group.next_start_time !== null && (
        <>
          {' · '}
          {t('groups.cooling', { cooling: group.cooling })} <Time at={group.next_start_time} />
        </>
      )}
    </>
  );
}

function Actions({ group }: { group: GroupDetail }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const navigate = useNavigate();
  const may = useMay('config:write');
  const [open, setOpen] = useState<'limit' | 'delete' | null>(null);
  const why = may ? undefined : t('denied.admin');
  const onClose = () => {
    setOpen(null);
    void client.invalidateQueries({ queryKey: ['groups'] });
  };
  return (
    <>
      <Link to="/groups" className="button">
        {t('groups.title')}
      </Link>
      <button type="button" className="button" disabled={!may} title={why} onClick={() => setOpen('limit')}>
        <Pencil aria-hidden size={15} />
        {t('groups.set_limit')}
      </button>
      <button
        type="button"
        className="button button-danger"
        disabled={!may}
        title={why}
        onClick={() => setOpen('delete')}
      >
        <Trash2 aria-hidden size={15} />
        {t('jobs.delete')}
      </button>
      {open === 'limit' && <SetLimitDialog group={group} onClose={onClose} onDone={onClose} />}
      {open === 'delete' && (
        <DeleteGroupDialog
          group={group}
          onClose={onClose}
          onDone={() => {
            setOpen(null);
            void navigate({ to: '/groups' });
          }}
        />
      )}
    </>
  );
}

function useRunColumns<T extends Holder | Queued>(): { job: Column<T>; run: Column<T>; since: Column<T> } {
  const { t } = useTranslation();
  return {
    job: {
      id: 'name',
      header: t('jobs.name'),
      cell: (one) => (
        <Link to="/jobs/$id" params={{ id: one.job_id }} className="link">
          {one.job_name || one.job_id}
        </Link>
      ),
    },
    run: {
      id: 'run',
      header: t('groups.run'),
      cell: (one) => (
        <Link to="/runs/$id" params={{ id: one.run_id }} className="link mono">
          {one.run_id}
        </Link>
      ),
    },
    since: { id: 'since', header: t('groups.since'), cell: (one) => <Time at={one.since} past /> },
  };
}

function Holders({ group }: { group: GroupDetail }) {
  const { t } = useTranslation();
  const { job, run, since } = useRunColumns<Holder>();
  const columns: Column<Holder>[] = [
    job,
    run,
    { id: 'state', header: t('runs.state'), cell: (one) => <StateBadge state={one.state} /> },
    since,
  ];
  return (
    <Card title={t('groups.holders')} flush>
      {group.holders.length === 0 ? (
        <p className="p-4 text-muted">{t('groups.no_holders')}</p>
      ) : (
        <DataTable
          label={t('groups.running')}
          columns={columns}
          rows={group.holders}
          rowId={(one) => one.run_id}
        />
      )}
    </Card>
  );
}

function Queue({ group }: { group: GroupDetail }) {
  const { t } = useTranslation();
  const { job, run, since } = useRunColumns<Queued>();
  const columns: Column<Queued>[] = [
    {
      id: 'place',
      header: t('groups.place'),
      cell: (one) => <span className="tabular-nums">{one.position}</span>,
    },
    job,
    run,
    { id: 'priority', header: t('groups.priority'), cell: (one) => one.priority },
    since,
  ];
  const shown = group.queue.length;
  return (
    <Card title={t('groups.queue')} flush>
      {shown === 0 ? (
        <p className="p-4 text-muted">{t('groups.no_queue')}</p>
      ) : (
        <DataTable
          label={t('groups.queued')}
          columns={columns}
          rows={group.queue}
          rowId={(one) => one.run_id}
        />
      )}
      {group.queued > shown && (
        <p className="border-t p-3 text-muted">{t('groups.first_of', { shown, count: group.queued })}</p>
      )}
    </Card>
  );
}

// List of backfills with their progress, and buttons that pause, resume and cancel them.
import '../runs/list/texts.en';
import '../audit/texts.en';
import '../../auth/texts.en';
import './texts.en';
import '../notices/texts.en';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { Ban, Pause, Play, X } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../api/client';
import { itemsOf } from '../../api/queries';
import { BACKFILL_STATES, type Backfill } from '../../api/types';
import { useMay } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { count } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { DataTable, type Column } from '../../ui/data_table';
import { FormDialog } from '../../ui/dialogs/form_dialog';
import { StateBadge } from '../../ui/state_badge';
import { Time } from '../../ui/time';
import { toastError } from '../../ui/toasts';
import { ListCard } from '../../ui/list_card';
import { EmptyYet, PageHeader, explain } from '../../ui/ui';
import { backfillPath, useBackfills } from './backfill_queries';

const route = getRouteApi('/backfills');

export function BackfillsPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const backfills = useBackfills({ ...search });
  const items = itemsOf(backfills.data);
  const filtered = Boolean(search.state || search.job_id);
  const clear = () => void navigate({ search: {} });
  return (
    <>
      <PageHeader
        title={t('backfill.title')}
        documentTitle={t('backfill.title')}
        under={t('backfill.under')}
      />
      <Filters />
      <ListCard
        query={backfills}
        match={filtered ? clear : undefined}
        empty={
          <EmptyYet
            title={t('backfill.none')}
            hint={t('backfill.none_hint')}
            action={
              <Link to="/jobs" className="button">
                {t('nav.jobs')}
              </Link>
            }
            command="carillon job backfill JOB --from 7d --to 1h --dry-run"
          />
        }
      >
        {items.length > 0 && <BackfillTable backfills={items} />}
      </ListCard>
    </>
  );
}

function Filters() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
      <select
        className="input w-auto"
        aria-label={t('runs.state')}
        value={search.state ?? ''}
        onChange={(event) =>
          void navigate({
            search: (before) => ({
              ...before,
              state: (event.target.value || undefined) as (typeof search)['state'],
            }),
          })
        }
      >
        <option value="">{t('deliveries.any_state')}</option>
        {BACKFILL_STATES.map((state) => (
          <option key={state} value={state}>
            {t(`state.${state}`)}
          </option>
        ))}
      </select>
      {search.job_id && (
        <button
          type="button"
          className="button"
          onClick={() => void navigate({ search: (before) => ({ ...before, job_id: undefined }) })}
        >
          <X aria-hidden size={15} />
          {t('backfill.only_of', { id: search.job_id })}
        </button>
      )}
    </div>
  );
}

function BackfillTable({ backfills }: { backfills: Backfill[] }) {
  const { t } = useTranslation();
  const columns: Column<Backfill>[] = [
    {
      id: 'job',
      header: t('backfill.job'),
      cell: (one) => (
        <div className="min-w-32">
          <Link
            to="/jobs/$id"
            params={{ id: one.job_id }}
            className="link inline-flex min-h-6 items-center font-medium"
          >
            {one.job_id}
          </Link>
          <p className="text-muted">
            <Time at={one.from} absolute /> – <Time at={one.to} absolute />
          </p>
        </div>
      ),
    },
    {
      id: 'state',
      header: t('runs.state'),
      cell: (one) => (
        <>
          <StateBadge state={one.state} />
          {one.error && (
            <p className="text-muted" lang="en">
              {one.error}
            </p>
          )}
        </>
      ),
    },
    { id: 'progress', header: t('backfill.progress'), cell: (one) => <Progress backfill={one} /> },
    { id: 'who', header: t('audit.actor'), cell: (one) => one.actor },
    { id: 'begun', header: t('backfill.begun'), cell: (one) => <Time at={one.create_time} /> },
    { id: 'ended', header: t('step.ended'), cell: (one) => <Time at={one.end_time} /> },
    { id: 'actions', header: t('backfill.actions'), cell: (one) => <Actions backfill={one} /> },
  ];
  return (
    <DataTable
      label={t('backfill.title')}
      columns={columns}
      rows={backfills}
      rowId={(one) => String(one.backfill_id)}
    />
  );
}

function Progress({ backfill }: { backfill: Backfill }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const n = (value: number) => count(value, language);
  return (
    <div className="grid min-w-40 gap-1">
      <progress
        className="progress"
        aria-label={t('backfill.progress')}
        max={Math.max(1, backfill.fires)}
        value={backfill.done}
      />
      <p className="text-muted tabular-nums">
        {t('backfill.so_far', {
          done: n(backfill.done),
          fires: n(backfill.fires),
          failed: n(backfill.failed),
          running: n(backfill.running),
        })}
      </p>
    </div>
  );
}

type Verb = 'pause' | 'resume' | 'cancel';

function useChange() {
  const { t } = useTranslation();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, verb }: { id: number; verb: Verb }) =>
      call<Backfill>('POST', backfillPath(id) + '/' + verb, { body: {} }),
    onError: (error) => toastError(t('error.action'), explain(error, t)),
    onSettled: () => client.invalidateQueries({ queryKey: ['backfills'] }),
  });
}

function Actions({ backfill }: { backfill: Backfill }) {
  const { t } = useTranslation();
  const may = useMay('jobs:run');
  const change = useChange();
  const [asking, setAsking] = useState(false);
  const { backfill_id: id, state } = backfill;
  if (state !== 'RUNNING' && state !== 'PAUSED') return null;
  const why = (verb: Verb) => {
    const denied = !may
      ? 'denied.write'
      : backfill.allowed_actions?.includes(verb) === false
        ? 'denied.own'
        : undefined;
    return { disabled: denied !== undefined || change.isPending, title: denied && t(denied) };
  };
  const turn: Verb = state === 'PAUSED' ? 'resume' : 'pause';
  return (
    <div className="flex gap-2">
      <button
        type="button"
        className="button"
        {...why(turn)}
        onClick={() => change.mutate({ id, verb: turn })}
      >
        {turn === 'pause' ? <Pause aria-hidden size={15} /> : <Play aria-hidden size={15} />}
        {t(`backfill.${turn}`)}
      </button>
      <button
        type="button"
        className="button button-danger"
        {...why('cancel')}
        onClick={() => setAsking(true)}
      >
        <Ban aria-hidden size={15} />
        {t('backfill.cancel')}
      </button>
      {asking && (
        <FormDialog
          title={t('backfill.cancel_title')}
          save={t('backfill.cancel')}
          danger
          pointers={[]}
          onClose={() => setAsking(false)}
          onSave={async () => {
            await change.mutateAsync({ id, verb: 'cancel' });
            setAsking(false);
          }}
        >
          {() => <p>{t('backfill.cancel_explain')}</p>}
        </FormDialog>
      )}
    </div>
  );
}

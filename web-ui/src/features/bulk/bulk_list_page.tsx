// List of the bulk actions that run on the server: those in progress, and those of the last days.
import '../runs/list/texts.en';
import '../audit/texts.en';
import './texts.en';
import '../notices/texts.en';
import { Link, getRouteApi } from '@tanstack/react-router';
import { itemsOf } from '../../api/queries';
import { BULK_STATES, type BulkAction } from '../../api/types';
import { useSession } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { DataTable, type Column } from '../../ui/data_table';
import { StateBadge } from '../../ui/state_badge';
import { Time } from '../../ui/time';
import { ListCard } from '../../ui/list_card';
import { EmptyYet, PageHeader } from '../../ui/ui';
import { useBulkTitle } from './bulk_text';
import { Progress } from './progress';
import { useBulkActions } from './bulk_queries';
import { useOwnerText } from '../users/owners';

const route = getRouteApi('/bulk');

export function BulkListPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const actions = useBulkActions({ ...search });
  const items = itemsOf(actions.data);
  const filtered = Boolean(search.state || search.user_id);
  const clear = () => void navigate({ search: {} });
  return (
    <>
      <PageHeader title={t('bulk.title')} documentTitle={t('bulk.title')} under={t('bulk.under')} />
      <Filters
        search={search}
        onChange={(change) => void navigate({ search: (before) => ({ ...before, ...change }) })}
      />
      <ListCard
        query={actions}
        match={filtered ? clear : undefined}
        empty={
          <EmptyYet
            title={t('bulk.none')}
            hint={t('bulk.none_hint')}
            action={
              <Link to="/jobs" className="button">
                {t('nav.jobs')}
              </Link>
            }
            command="carillon bulk pause --filter selector=team=etl --background"
          />
        }
      >
        {items.length > 0 && <ActionsTable actions={items} />}
      </ListCard>
    </>
  );
}

type Search = ReturnType<typeof route.useSearch>;

function Filters({ search, onChange }: { search: Search; onChange: (change: Partial<Search>) => void }) {
  const { t } = useTranslation();
  const session = useSession();
  const ownerOf = useOwnerText();
  const own = session.state === 'signed_in' ? session.person?.user_id : undefined;
  return (
    <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
      <select
        className="input w-auto"
        aria-label={t('runs.state')}
        value={search.state ?? ''}
        onChange={(event) => onChange({ state: (event.target.value || undefined) as Search['state'] })}
      >
        <option value="">{t('deliveries.any_state')}</option>
        {BULK_STATES.map((state) => (
          <option key={state} value={state}>
            {t(`state.${state}`)}
          </option>
        ))}
      </select>
      {(own ?? search.user_id) && (
        <label className="flex min-h-8 items-center gap-2">
          <input
            type="checkbox"
            className="size-4"
            checked={search.user_id !== undefined}
            onChange={(event) => onChange({ user_id: event.target.checked ? (own ?? undefined) : undefined })}
          />
          {search.user_id && search.user_id !== own
            ? t('bulk.of_user', { id: ownerOf(search.user_id) })
            : t('bulk.mine')}
        </label>
      )}
    </div>
  );
}

function ActionsTable({ actions }: { actions: BulkAction[] }) {
  const { t } = useTranslation();
  const titleOf = useBulkTitle();
  const columns: Column<BulkAction>[] = [
    {
      id: 'name',
      header: t('audit.action'),
      cell: (bulk) => (
        <div className="min-w-32">
          <Link
            to="/bulk/$id"
            params={{ id: bulk.bulk_id }}
            className="link font-medium inline-flex min-h-6 items-center"
          >
            {titleOf(bulk)}
          </Link>
          {bulk.reason && <p className="text-muted wrap-anywhere">{bulk.reason}</p>}
        </div>
      ),
    },
    { id: 'state', header: t('runs.state'), cell: (bulk) => <StateBadge state={bulk.state} /> },
    { id: 'progress', header: t('bulk.progress'), cell: (bulk) => <Progress bulk={bulk} /> },
    { id: 'who', header: t('audit.actor'), cell: (bulk) => bulk.actor },
    { id: 'begun', header: t('bulk.begun'), cell: (bulk) => <Time at={bulk.create_time} /> },
    { id: 'ended', header: t('step.ended'), cell: (bulk) => <Time at={bulk.end_time} /> },
  ];
  return (
    <DataTable label={t('bulk.title')} columns={columns} rows={actions} rowId={(bulk) => bulk.bulk_id} />
  );
}

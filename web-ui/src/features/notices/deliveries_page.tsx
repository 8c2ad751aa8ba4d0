// Page of the notifications that were sent: recipients, states and errors.
import '../bulk/texts.en';
import '../dead_letters/texts.en';
import '../jobs/detail/texts.en';
import './texts.en';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { RotateCw, Send, X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { ApiError, call } from '../../api/client';
import { itemsOf, useDeliveries } from '../../api/queries';
import { DELIVERY_STATES, NOTICE_KINDS, type Delivery } from '../../api/types';
import { useMay } from '../../auth/session';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { DataTable, type Column } from '../../ui/data_table';
import { SearchField } from '../../ui/search_field';
import { StateBadge } from '../../ui/state_badge';
import { Time } from '../../ui/time';
import { toast, toastError } from '../../ui/toasts';
import { ListCard } from '../../ui/list_card';
import { EmptyYet, PageHeader, explain } from '../../ui/ui';
import { AdminTabs } from '../admin/admin_tabs';
import { TestNoticeDialog } from './send_test_dialog';

const route = getRouteApi('/admin/deliveries');

export function DeliveriesPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay('config:write');
  const deliveries = useDeliveries({ ...search, job_id: search.job_id?.toLowerCase() });
  const items = itemsOf(deliveries.data);
  // The id is invalid, so nothing can match it.
  const noId = deliveries.error instanceof ApiError && deliveries.error.status === 400;
  const [testing, setTesting] = useState(false);
  const filtered = Boolean(search.state || search.kind || search.job_id);
  const clear = () => void navigate({ search: {} });
  const test = (
    <button
      type="button"
      className="button button-primary"
      disabled={!may}
      title={may ? undefined : t('deliveries.denied')}
      onClick={() => setTesting(true)}
    >
      <Send aria-hidden size={15} />
      {t('deliveries.test')}
    </button>
  );
  return (
    <>
      <PageHeader
        title={t('admin.deliveries')}
        documentTitle={t('admin.deliveries')}
        under={t('deliveries.under')}
        actions={test}
      />
      <AdminTabs />
      <Filters
        search={search}
        filtered={filtered}
        onClear={clear}
        onChange={(change) => void navigate({ search: (before) => ({ ...before, ...change }) })}
      />
      <ListCard
        query={deliveries}
        match={filtered ? clear : undefined}
        invalid={noId}
        empty={
          <EmptyYet
            title={t('deliveries.none')}
            hint={t('deliveries.none_hint')}
            command="carillon notify test"
          />
        }
      >
        {items.length > 0 && <DeliveriesTable deliveries={items} may={may} />}
      </ListCard>
      {testing && <TestNoticeDialog onClose={() => setTesting(false)} />}
    </>
  );
}

type Search = ReturnType<typeof route.useSearch>;

function Filters(props: {
  search: Search;
  filtered: boolean;
  onChange: (change: Partial<Search>) => void;
  onClear: () => void;
}) {
  const { t } = useTranslation();
  const { search, onChange } = props;
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <select
        className="input w-auto"
        aria-label={t('runs.state')}
        value={search.state ?? ''}
        onChange={(event) => onChange({ state: (event.target.value || undefined) as Search['state'] })}
      >
        <option value="">{t('deliveries.any_state')}</option>
        {DELIVERY_STATES.map((state) => (
          <option key={state} value={state}>
            {t(`state.${state}`)}
          </option>
        ))}
      </select>
      <select
        className="input w-auto"
        aria-label={t('deliveries.kind')}
        value={search.kind ?? ''}
        onChange={(event) => onChange({ kind: (event.target.value || undefined) as Search['kind'] })}
      >
        <option value="">{t('deliveries.any_kind')}</option>
        {NOTICE_KINDS.map((kind) => (
          <option key={kind} value={kind}>
            {t(`notice.${kind}`)}
          </option>
        ))}
      </select>
      <SearchField
        label={t('runs.whole_job_id')}
        value={search.job_id ?? ''}
        onChange={(job_id) => onChange({ job_id: job_id || undefined })}
      />
      {props.filtered && (
        <button type="button" className="button button-plain" onClick={props.onClear}>
          <X aria-hidden size={15} />
          {t('empty.clear')}
        </button>
      )}
    </div>
  );
}

function useResend() {
  const { t } = useTranslation();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (delivery: Delivery) =>
      call<Delivery>('POST', `deliveries/${encodeURIComponent(delivery.id)}/resend`),
    onSuccess: () => toast(t('deliveries.resent')),
    onError: (error) => toastError(t('deliveries.not_resent'), explain(error, t)),
    onSettled: () => client.invalidateQueries({ queryKey: ['deliveries'] }),
  });
}

function DeliveriesTable({ deliveries, may }: { deliveries: Delivery[]; may: boolean }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const resend = useResend();
  const columns: Column<Delivery>[] = [
    { id: 'state', header: t('runs.state'), cell: (one) => <StateBadge state={one.state} /> },
    { id: 'name', header: t('deliveries.what'), cell: (one) => <Told delivery={one} /> },
    {
      id: 'whom',
      header: t('deliveries.whom'),
      cell: (one) => (
        <div className="min-w-24">
          {textOr('channel.', one.channel)}
          {one.recipients.map((address) => (
            <div key={address} className="break-all text-muted">
              {address}
            </div>
          ))}
        </div>
      ),
    },
    { id: 'time', header: t('deliveries.time'), cell: (one) => <Time at={one.create_time} /> },
    {
      id: 'tries',
      header: t('deliveries.tries'),
      cell: (one) => (
        <>
          <OnCard>{t('deliveries.tries')}</OnCard>
          <span className="tabular-nums">{one.attempts}</span>
        </>
      ),
    },
    {
      id: 'next',
      header: t('deliveries.next'),
      cell: (one) =>
        one.next_try_time && (
          <>
            <OnCard>{t('deliveries.next')}</OnCard>
            <Time at={one.next_try_time} />
          </>
        ),
    },
    {
      id: 'error',
      header: t('deliveries.error'),
      cell: (one) => (
        <p lang="en" className="max-w-96 min-w-32 text-muted wrap-anywhere">
          {errorOf(one)}
        </p>
      ),
    },
    {
      id: 'actions',
      header: <span className="sr-only">{t('actions')}</span>,
      cell: (one) => {
        const label = t('deliveries.resend_named', { id: one.id, job: one.job_id });
        return (
          <button
            type="button"
            className="button button-plain button-icon"
            aria-label={label}
            title={may ? label : t('deliveries.denied')}
            disabled={!may || resend.isPending}
            onClick={() => resend.mutate(one)}
          >
            <RotateCw aria-hidden size={15} />
          </button>
        );
      },
    },
  ];
  return (
    <DataTable label={t('admin.deliveries')} columns={columns} rows={deliveries} rowId={(one) => one.id} />
  );
}

// On a card there is no header row, so each number has its label beside it.
const OnCard = ({ children }: { children: ReactNode }) => (
  <span className="mr-1.5 text-muted sm:hidden">{children}</span>
);

function Told({ delivery }: { delivery: Delivery }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  return (
    <div className="min-w-32">
      <span className="font-medium">{textOr('notice.', delivery.kind)}</span>
      <div className="flex flex-wrap gap-x-2">
        <Link
          to="/jobs/$id"
          params={{ id: delivery.job_id }}
          className="link mono inline-flex min-h-7 items-center break-all"
        >
          {delivery.job_id}
        </Link>
        {delivery.run_id && (
          <Link
            to="/runs/$id"
            params={{ id: delivery.run_id }}
            className="link inline-flex min-h-7 items-center"
          >
            {t('bulk.its_run')}
          </Link>
        )}
      </div>
    </div>
  );
}

// The error text usually contains the status. If there is no text, the status alone is shown.
const errorOf = ({ error, status, state }: Delivery): string =>
  error ?? (status !== null && state !== 'DELIVERED' ? String(status) : '');

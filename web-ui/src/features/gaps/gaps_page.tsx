// Page of missed fires and their reasons. All filters are in the URL.
import '../dead_letters/texts.en';
import './texts.en';
import '../jobs/list/texts.en';
import { Link, getRouteApi } from '@tanstack/react-router';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiError } from '../../api/client';
import { itemsOf, useGaps } from '../../api/queries';
import { GAP_REASONS, type Gap } from '../../api/types';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { DataTable, type Column } from '../../ui/data_table';
import { count } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { SearchField } from '../../ui/search_field';
import { Time } from '../../ui/time';
import { ListCard } from '../../ui/list_card';
import { EmptyYet, PageHeader } from '../../ui/ui';
import { Since } from '../runs/list/filter_bar';
import { TimeRange } from '../lists/filters/time_range';

const route = getRouteApi('/gaps');

export interface GapSearch {
  job_id?: string;
  reason?: string[];
  since?: string;
  until?: string;
}

export function GapsPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const gaps = useGaps({ ...search, job_id: search.job_id?.trim().toLowerCase() });
  const items = itemsOf(gaps.data);
  const { job_id: job = '' } = search;
  // The id is invalid, so nothing can match it.
  const noId = job !== '' && gaps.error instanceof ApiError && gaps.error.status === 400;
  const filtered = Object.values(search).some((value) => value !== undefined && value.length > 0);
  const clear = () => void navigate({ search: {} });
  return (
    <>
      <PageHeader title={t('gaps.title')} documentTitle={t('gaps.title')} under={t('gaps.under')} />
      <Filters
        search={search}
        set={(change) => void navigate({ search: (before) => ({ ...before, ...change }) })}
        onClear={filtered ? clear : undefined}
      />
      <ListCard
        query={gaps}
        match={filtered ? clear : undefined}
        invalid={noId}
        empty={
          <EmptyYet
            title={t('gaps.none')}
            hint={t('gaps.none_hint')}
            command="carillon job gaps --since 24h"
          />
        }
      >
        {items.length > 0 && <GapsTable gaps={items} />}
      </ListCard>
    </>
  );
}

function Filters(props: {
  search: GapSearch;
  set: (change: Partial<GapSearch>) => void;
  onClear: (() => void) | undefined;
}) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const { search, set } = props;
  const chosen = search.reason ?? [];
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <SearchField
        label={t('runs.whole_job_id')}
        value={search.job_id ?? ''}
        onChange={(job_id) => set({ job_id: job_id || undefined })}
      />
      <select
        className="input w-auto max-w-full"
        aria-label={t('runs.why')}
        value={chosen.join(' ')}
        onChange={(event) => set({ reason: event.target.value ? event.target.value.split(' ') : undefined })}
      >
        <option value="">{t('gaps.any_reason')}</option>
        {chosen.length > 1 && (
          <option value={chosen.join(' ')}>
            {chosen.map((reason) => textOr('reason.', reason)).join(', ')}
          </option>
        )}
        {GAP_REASONS.map((reason) => (
          <option key={reason} value={reason}>
            {textOr('reason.', reason)}
          </option>
        ))}
      </select>
      <Since value={search.since} onChange={(since) => set({ since })} />
      <TimeRange since={search.since} until={search.until} onChange={set} />
      {props.onClear && (
        <button type="button" className="button button-plain" onClick={props.onClear}>
          <X aria-hidden size={15} />
          {t('empty.clear')}
        </button>
      )}
    </div>
  );
}

// On a card there is no header row, so each value has its label beside it.
const OnCard = ({ children }: { children: ReactNode }) => (
  <span className="mr-1.5 text-muted sm:hidden">{children}</span>
);

function GapsTable({ gaps }: { gaps: Gap[] }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const textOr = useTextOr();
  const columns: Column<Gap>[] = [
    {
      id: 'name',
      header: t('runs.job'),
      cell: (one) => (
        <Link
          to="/jobs/$id"
          params={{ id: one.job_id }}
          className="link mono inline-flex min-h-7 items-center break-all"
        >
          {one.job_id}
        </Link>
      ),
    },
    {
      id: 'schedule',
      header: t('jobs.schedule'),
      cell: (one) => (
        <>
          <OnCard>{t('jobs.schedule')}</OnCard>
          <span className="tabular-nums">{one.schedule_id}</span>
        </>
      ),
    },
    {
      id: 'from',
      header: t('gaps.from'),
      cell: (one) => (
        <>
          <OnCard>{t('gaps.from')}</OnCard>
          <Time at={one.from} absolute />
        </>
      ),
    },
    {
      id: 'to',
      header: t('gaps.to'),
      cell: (one) => (
        <>
          <OnCard>{t('gaps.to')}</OnCard>
          <Time at={one.to} absolute />
        </>
      ),
    },
    {
      id: 'count',
      header: t('gaps.fires'),
      cell: (one) => (
        <>
          <OnCard>{t('gaps.fires')}</OnCard>
          <span className="tabular-nums">{count(one.count, language)}</span>
        </>
      ),
    },
    { id: 'reason', header: t('runs.why'), cell: (one) => textOr('reason.', one.reason) },
    {
      id: 'actions',
      header: <span className="sr-only">{t('actions')}</span>,
      cell: (one) => (
        <Link
          to="/jobs/$id"
          params={{ id: one.job_id }}
          search={{ tab: 'why', at: one.from }}
          className="link inline-flex min-h-7 items-center"
          aria-label={t('gaps.why_named', { job: one.job_id })}
        >
          {t('why.short')}
        </Link>
      ),
    },
  ];
  return (
    <DataTable
      label={t('gaps.title')}
      columns={columns}
      rows={gaps}
      rowId={(one) => one.schedule_id + ' ' + one.from}
    />
  );
}

// Page of the events of the last 72 hours, what each started, and a test of an event. All filters are in the URL.
import './texts.en';
import { Link, getRouteApi } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { Suspense, lazy, type ReactNode } from 'react';
import { EVENT_OUTCOMES, useEventRecords, type EventRecord, type EventStart } from '../../api/event_records';
import { ApiError } from '../../api/client';
import { itemsOf } from '../../api/queries';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { many, one as text } from '../../lib/search_params';
import { DataTable, type Column } from '../../ui/data_table';
import { ListCard } from '../../ui/list_card';
import { SearchField } from '../../ui/search_field';
import { Time } from '../../ui/time';
import { EmptyYet, PageHeader } from '../../ui/ui';
import { NamespaceFilter } from '../lists/filters/namespace_filter';
import { TimeRange } from '../lists/filters/time_range';
import { Since } from '../runs/list/filter_bar';

const EventTest = lazy(() => import('../jobs/events/event_test'));
const route = getRouteApi('/events');
const STARTS_SHOWN = 10;

export interface EventSearch {
  namespace?: string[];
  type?: string;
  source?: string;
  id?: string;
  outcome?: string;
  since?: string;
  until?: string;
}

// The first page loads the route, so what its URL may hold is read here.
const searchOf = (found: EventSearch): EventSearch => ({
  namespace: many(found.namespace),
  type: text(found.type),
  source: text(found.source),
  id: text(found.id),
  outcome: text(found.outcome),
  since: text(found.since),
  until: text(found.until),
});

export function EventsPage() {
  const { t } = useTranslation();
  const search = searchOf(route.useSearch());
  const navigate = route.useNavigate();
  const events = useEventRecords({ ...search });
  const items = itemsOf(events.data);
  const filtered = Object.values(search).some((value) => value !== undefined && value.length > 0);
  const clear = () => void navigate({ search: {} });
  const [namespace] = search.namespace ?? [];
  // A filter that is not valid matches nothing. A wrong time is a mistake of the URL, which is shown.
  const invalid =
    events.error instanceof ApiError &&
    events.error.status === 400 &&
    events.error.errors.every((one) => /type|source|id/.test(one.pointer));
  return (
    <>
      <PageHeader title={t('events.title')} documentTitle={t('events.title')} under={t('events.under')} />
      <Filters
        search={search}
        set={(change) => void navigate({ search: (before) => ({ ...before, ...change }) })}
        onClear={filtered ? clear : undefined}
      />
      <details className="card mb-3 px-4 py-2">
        <summary className="py-1 text-accent">{t('events.test_all')}</summary>
        <div className="mt-2 max-w-3xl pb-2">
          <Suspense>
            <EventTest of={namespace === undefined ? {} : { namespace }} />
          </Suspense>
        </div>
      </details>
      <ListCard
        query={events}
        match={filtered ? clear : undefined}
        invalid={invalid}
        empty={
          <EmptyYet
            title={t('events.none')}
            hint={t('events.none_hint')}
            command="carillon event send --type order.created --source shop"
          />
        }
      >
        {items.length > 0 && <EventsTable events={items} />}
      </ListCard>
    </>
  );
}

function Filters(props: {
  search: EventSearch;
  set: (change: Partial<EventSearch>) => void;
  onClear: (() => void) | undefined;
}) {
  const { t } = useTranslation();
  const { search, set } = props;
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <SearchField
        label={t('events.type_filter')}
        value={search.type ?? ''}
        onChange={(type) => set({ type: type || undefined })}
      />
      <SearchField
        label={t('events.source')}
        value={search.source ?? ''}
        onChange={(source) => set({ source: source || undefined })}
      />
      <select
        className="input w-auto max-w-full"
        aria-label={t('events.outcome')}
        value={search.outcome ?? ''}
        onChange={(event) => set({ outcome: event.target.value || undefined })}
      >
        <option value="">{t('events.any_outcome')}</option>
        {EVENT_OUTCOMES.map((outcome) => (
          <option key={outcome} value={outcome}>
            {t(`events.outcome.${outcome}`)}
          </option>
        ))}
      </select>
      <NamespaceFilter chosen={search.namespace} onChange={(namespace) => set({ namespace })} />
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

const OUTCOME_TONES = { started: 'text-ok', gap: 'text-warn', refused: 'text-bad' } as const;

function EventsTable({ events }: { events: EventRecord[] }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const columns: Column<EventRecord>[] = [
    {
      id: 'name',
      header: t('events.type'),
      cell: (one) => <span className="mono break-all">{one.type ?? '–'}</span>,
    },
    {
      id: 'source',
      header: t('events.source'),
      cell: (one) => (
        <>
          <OnCard>{t('events.source')}</OnCard>
          <span className="mono break-all">{one.source || '–'}</span>
        </>
      ),
    },
    {
      id: 'event_id',
      header: t('events.id'),
      cell: (one) => (
        <>
          <OnCard>{t('events.id')}</OnCard>
          <span className="mono break-all">{one.id}</span>
        </>
      ),
    },
    {
      id: 'accepted',
      header: t('events.accepted'),
      cell: (one) => (
        <>
          <OnCard>{t('events.accepted')}</OnCard>
          <Time at={one.accepted_at} absolute />
        </>
      ),
    },
    {
      id: 'outcome',
      header: t('events.outcome'),
      cell: (one) => (
        <span className={OUTCOME_TONES[one.outcome]}>{textOr('events.outcome.', one.outcome)}</span>
      ),
    },
    { id: 'starts', header: t('events.starts'), cell: (one) => <Starts event={one} /> },
  ];
  return (
    <DataTable
      label={t('events.title')}
      columns={columns}
      rows={events}
      rowId={(one) => [one.namespace, one.source, one.id].join('\n')}
    />
  );
}

function Starts({ event }: { event: EventRecord }) {
  const { t } = useTranslation();
  const shown = event.starts.slice(0, STARTS_SHOWN);
  const more = event.starts.length - shown.length;
  return (
    <div className="grid gap-1 wrap-anywhere">
      {event.problem !== null && <p lang="en">{event.problem}</p>}
      {shown.length > 0 && (
        <ul className="grid gap-1">
          {shown.map((start) => (
            <li key={start.schedule_id}>
              <Start start={start} />
            </li>
          ))}
        </ul>
      )}
      {more > 0 && <p className="text-muted">{t('events.more', { count: more })}</p>}
    </div>
  );
}

function Start({ start }: { start: EventStart }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  if (start.run_id !== null)
    return (
      <Link to="/runs/$id" params={{ id: start.run_id }} className="link inline-flex min-h-6 items-center">
        {t('events.run_of', { job: start.job_id })}
      </Link>
    );
  return (
    <>
      <Link
        to="/jobs/$id"
        params={{ id: start.job_id }}
        className="link mono inline-flex min-h-6 items-center"
      >
        {start.job_id}
      </Link>{' '}
      <span className="text-muted">
        {textOr('reason.', start.gap)}
        {start.problem !== null && (
          <>
            : <span lang="en">{start.problem}</span>
          </>
        )}
      </span>
    </>
  );
}

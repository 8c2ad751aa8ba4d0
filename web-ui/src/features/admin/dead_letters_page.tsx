// Runs that used up their attempts: try one once more, or let it be.
import '../../i18n/more';
import '../../i18n/seldom';
import { Link, getRouteApi } from '@tanstack/react-router';
import { RotateCcw, Trash2 } from 'lucide-react';
import { Suspense, lazy, useState } from 'react';
import { ApiError } from '../../api/client';
import { itemsOf, useDeadLetters } from '../../api/queries';
import type { DeadLetter } from '../../api/types';
import { useDenied } from '../../auth/session';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { DataTable, type Column } from '../../shared/data_table';
import { SearchField } from '../../shared/search_field';
import { StateBadge } from '../../shared/state_badge';
import { Time } from '../../shared/time';
import { EmptyMatch, EmptyYet, LoadFailure, Loading, MoreButton, PageHeader } from '../../shared/ui';
import { AdminTabs } from './admin_tabs';

const DeadLetterDialog = lazy(() => import('./dead_letter_dialog'));
const route = getRouteApi('/admin/dead-letters');
const PAGE_SIZE = 200;

export type Verb = 'replay' | 'discard';

export function DeadLettersPage() {
  const { t } = useTranslation();
  const { job_id: job = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const letters = useDeadLetters({ page_size: PAGE_SIZE, job_id: job.trim().toLowerCase() || undefined });
  const items = itemsOf(letters.data);
  const noId = letters.error instanceof ApiError && letters.error.status === 400; // nor is anything found by it
  const [asked, setAsked] = useState<{ letter: DeadLetter; verb: Verb } | null>(null);
  const find = (text: string) => void navigate({ search: { job_id: text || undefined }, replace: true });
  return (
    <>
      <PageHeader title={t('dead.title')} documentTitle={t('dead.title')} under={t('dead.under')} />
      <AdminTabs />
      <div className="mb-3">
        <SearchField label={t('runs.whole_job_id')} value={job} onChange={find} />
      </div>
      <div className="card overflow-hidden">
        {letters.isPending ? (
          <Loading />
        ) : letters.isError && items.length === 0 && !(job !== '' && noId) ? (
          <LoadFailure error={letters.error} onRetry={() => void letters.refetch()} />
        ) : items.length > 0 ? (
          <Letters letters={items} onAsk={(letter, verb) => setAsked({ letter, verb })} />
        ) : job !== '' ? (
          <EmptyMatch onClear={() => find('')} />
        ) : (
          <EmptyYet title={t('dead.none')} hint={t('dead.none_hint')} command="carillon dead-letter list" />
        )}
        <MoreButton query={letters} />
      </div>
      {asked && (
        <Suspense>
          <DeadLetterDialog key={asked.letter.id + asked.verb} {...asked} onClose={() => setAsked(null)} />
        </Suspense>
      )}
    </>
  );
}

function Letters({
  letters,
  onAsk,
}: {
  letters: DeadLetter[];
  onAsk: (letter: DeadLetter, verb: Verb) => void;
}) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const denied = useDenied();
  const button = (letter: DeadLetter, verb: Verb) => {
    const why = denied(letter, 'discard'); // of both: who may run its job
    const label = t(`dead.${verb}_named`, { job: letter.job_id, id: letter.id });
    const Icon = verb === 'replay' ? RotateCcw : Trash2;
    return (
      <button
        type="button"
        className={'button button-plain button-icon ' + (verb === 'discard' ? 'button-danger' : '')}
        aria-label={label}
        disabled={why !== undefined}
        title={why ? t(why) : label}
        onClick={() => onAsk(letter, verb)}
      >
        <Icon aria-hidden size={15} />
      </button>
    );
  };
  const columns: Column<DeadLetter>[] = [
    { id: 'state', header: t('runs.state'), cell: (one) => <StateBadge state={one.state} /> },
    {
      id: 'name',
      header: t('runs.job'),
      cell: (one) => (
        <div className="flex flex-wrap gap-x-3">
          <Link
            to="/jobs/$id"
            params={{ id: one.job_id }}
            className="link mono inline-flex min-h-7 items-center break-all"
          >
            {one.job_id}
          </Link>
          <Link to="/runs/$id" params={{ id: one.run_id }} className="link inline-flex min-h-7 items-center">
            {t('bulk.its_run')}
          </Link>
        </div>
      ),
    },
    { id: 'reason', header: t('runs.why'), cell: (one) => textOr('reason.', one.reason) },
    {
      id: 'tries',
      header: t('run.attempts'),
      cell: (one) => (
        <span className="tabular-nums">
          <span className="mr-1.5 text-muted sm:hidden">{t('run.attempts')}</span>
          {one.attempts}
        </span>
      ),
    },
    { id: 'time', header: t('deliveries.time'), cell: (one) => <Time at={one.create_time} /> },
    {
      id: 'actions',
      header: <span className="sr-only">{t('actions')}</span>,
      cell: (one) => (
        <div className="flex justify-end">
          {button(one, 'replay')}
          {button(one, 'discard')}
        </div>
      ),
    },
  ];
  return <DataTable label={t('dead.title')} columns={columns} rows={letters} rowId={(one) => one.id} />;
}

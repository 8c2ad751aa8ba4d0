// Page of the failing jobs and of the dead letters. Users can retry or discard one dead letter, several dead
// letters, or all dead letters of one job.
import '../bulk/texts.en';
import './texts.en';
import '../lists/texts.en';
import '../notices/texts.en';
import { Link, getRouteApi } from '@tanstack/react-router';
import { RotateCcw, Trash2, X } from 'lucide-react';
import { Suspense, lazy, useRef, useState } from 'react';
import { ApiError } from '../../api/client';
import { itemsOf, totalOf, useDeadLetters } from '../../api/queries';
import type { DeadLetter } from '../../api/types';
import { useDenied, useMay } from '../../auth/session';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { DataTable, type Column } from '../../ui/data_table';
import { count } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { SearchField } from '../../ui/search_field';
import { StateBadge } from '../../ui/state_badge';
import { Time } from '../../ui/time';
import { ListCard } from '../../ui/list_card';
import { EmptyYet, PageHeader } from '../../ui/ui';
import type { DeadLetterAction, Row, Target } from '../bulk/bulk';
import { useTickColumn, type Selectable } from '../lists/list_bar';
import { NOTHING, areAllTicked, only, tickShown } from '../bulk/selection';
import { AdminTabs } from '../admin/admin_tabs';
import type { Verb } from './dead_letter_dialog';
import { AllOf, FailingJobs, type AskAll } from './failing_jobs';

const BulkDialog = lazy(() => import('../bulk/bulk_dialog'));
const DeadLetterDialog = lazy(() => import('./dead_letter_dialog'));
const route = getRouteApi('/admin/dead-letters');
const PAGE_SIZE = 200;
const ACTIONS: readonly DeadLetterAction[] = ['retry', 'discard'];
const ICONS = { retry: RotateCcw, discard: Trash2 };

interface Many {
  action: DeadLetterAction;
  target: Target;
  opener: HTMLElement;
}

const rowOf = (letter: DeadLetter): Row => ({ id: letter.id, name: letter.job_id, state: letter.state });

export function DeadLettersPage() {
  const { t } = useTranslation();
  const { job_id: job = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const letters = useDeadLetters({ page_size: PAGE_SIZE, job_id: job.trim().toLowerCase() || undefined });
  const items = itemsOf(letters.data);
  // The id is invalid, so nothing can match it.
  const noId = letters.error instanceof ApiError && letters.error.status === 400;
  const [asked, setAsked] = useState<{ letter: DeadLetter; verb: Verb } | null>(null);
  const [many, setMany] = useState<Many | null>(null);
  const [selection, onSelect] = useState(NOTHING);
  const list: Selectable = { rows: items.map(rowOf), selection, onSelect };
  const askAll: AskAll = (jobId, action, opener) =>
    setMany({ action, target: { filter: { job_id: jobId } }, opener });
  const find = (text: string) => {
    onSelect(NOTHING);
    void navigate({ search: { job_id: text || undefined }, replace: true });
  };
  return (
    <>
      <PageHeader title={t('dead.title')} documentTitle={t('dead.title')} under={t('dead.under')} />
      <AdminTabs />
      {job === '' && <FailingJobs onAsk={askAll} />}
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchField label={t('runs.whole_job_id')} value={job} onChange={find} />
        {job !== '' && items.length > 0 && <AllOf jobId={items[0]!.job_id} onAsk={askAll} />}
      </div>
      {items.length > 0 && (
        <SelectionBar
          list={list}
          total={totalOf(letters.data)}
          onAsk={(action, opener) => setMany({ action, target: { ids: [...selection.ids] }, opener })}
        />
      )}
      <ListCard
        query={letters}
        match={job !== '' ? () => find('') : undefined}
        invalid={noId}
        empty={
          <EmptyYet title={t('dead.none')} hint={t('dead.none_hint')} command="carillon dead-letter list" />
        }
      >
        {items.length > 0 && (
          <Letters letters={items} list={list} onAsk={(letter, verb) => setAsked({ letter, verb })} />
        )}
      </ListCard>
      {many && (
        <Suspense>
          <BulkDialog
            kind="dead_letter"
            action={many.action}
            target={many.target}
            leftOut={0}
            rows={list.rows}
            finalFocus={() => (many.opener.isConnected ? many.opener : null)}
            onClose={() => setMany(null)}
            onDone={(failed) => onSelect(only(failed))}
            onHanded={() => onSelect(NOTHING)}
          />
        </Suspense>
      )}
      {asked && (
        <Suspense>
          <DeadLetterDialog key={asked.letter.id + asked.verb} {...asked} onClose={() => setAsked(null)} />
        </Suspense>
      )}
    </>
  );
}

function SelectionBar({
  list,
  total,
  onAsk,
}: {
  list: Selectable;
  total: { n: number; more: boolean } | null;
  onAsk: (action: DeadLetterAction, opener: HTMLElement) => void;
}) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const may = useMay('jobs:run');
  const box = useRef<HTMLInputElement>(null);
  const { selection, onSelect } = list;
  const ids = list.rows.map((row) => row.id);
  const n = selection.ids.size;
  return (
    <div className="mb-2 flex min-h-9 flex-wrap items-center gap-2">
      <label className="flex min-h-8 items-center gap-2 text-muted">
        <input
          ref={box}
          type="checkbox"
          className="size-4"
          checked={areAllTicked(selection, ids)}
          onChange={() => onSelect(tickShown(selection, ids))}
        />
        {t('lists.select_shown', { n: ids.length })}
      </label>
      <p role="status" className={n > 0 ? 'font-medium' : 'sr-only'}>
        {n > 0 && t('lists.selected', { n })}
      </p>
      {n > 0 && (
        <div role="group" aria-label={t('dead.selection')} className="flex flex-wrap items-center gap-2">
          {ACTIONS.map((action) => {
            const Icon = ICONS[action];
            return (
              <button
                key={action}
                type="button"
                className={'button ' + (action === 'discard' ? 'button-danger' : '')}
                disabled={!may}
                title={may ? undefined : t('denied.write')}
                onClick={(event) => onAsk(action, event.currentTarget)}
              >
                <Icon aria-hidden size={15} />
                {t(`bulk.${action}`)}
              </button>
            );
          })}
          <button
            type="button"
            className="button button-plain button-icon"
            aria-label={t('lists.clear')}
            title={t('lists.clear')}
            onClick={() => {
              onSelect(NOTHING);
              box.current!.focus();
            }}
          >
            <X aria-hidden size={15} />
          </button>
        </div>
      )}
      {total && (
        <span className="text-muted tabular-nums" data-testid="total">
          {t('dead.total', { n: count(total.n, language) + (total.more ? '+' : ''), count: total.n })}
        </span>
      )}
    </div>
  );
}

function Letters({
  letters,
  list,
  onAsk,
}: {
  letters: DeadLetter[];
  list: Selectable;
  onAsk: (letter: DeadLetter, verb: Verb) => void;
}) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const denied = useDenied();
  const button = (letter: DeadLetter, verb: Verb) => {
    const why = denied(letter, 'discard'); // retry and discard both need the permission to run the job
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
    useTickColumn(list, (one: DeadLetter) => ({ ...rowOf(one), name: `${one.job_id} ${one.id}` })),
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

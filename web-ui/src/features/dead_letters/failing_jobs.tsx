// Card of the failing jobs: since when and how often each job fails, and actions on all its dead letters.
import './texts.en';
import { Link } from '@tanstack/react-router';
import { RotateCcw, Trash2 } from 'lucide-react';
import { itemsOf, totalOf, useFailingJobs } from '../../api/queries';
import type { FailingJob } from '../../api/types';
import { useMay } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { DataTable, type Column } from '../../ui/data_table';
import { count } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { Time } from '../../ui/time';
import { Card, MoreButton } from '../../ui/ui';
import type { DeadLetterAction } from '../bulk/bulk';

const PAGE_SIZE = 20;
const COUNTED_MAX = 1000; // dead letters of a job; the server counts no further

export type AskAll = (jobId: string, action: DeadLetterAction, opener: HTMLElement) => void;

// Renders nothing if no job is failing.
export function FailingJobs({ onAsk }: { onAsk: AskAll }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const failing = useFailingJobs({ page_size: PAGE_SIZE });
  const rows = itemsOf(failing.data);
  const total = totalOf(failing.data);
  if (rows.length === 0) return null;
  const number = (n: number, more: boolean) => count(n, language) + (more ? '+' : '');
  const columns: Column<FailingJob>[] = [
    {
      id: 'name',
      header: t('runs.job'),
      cell: (one) => (
        <Link
          to="/jobs/$id"
          params={{ id: one.job_id }}
          className="link inline-flex min-h-7 items-center break-words"
        >
          {one.job_name || one.job_id}
        </Link>
      ),
    },
    { id: 'since', header: t('failing.since'), cell: (one) => <Time at={one.failing_since} past /> },
    {
      id: 'failures',
      header: t('failing.in_a_row'),
      cell: (one) => (
        <Link
          to="/runs/$id"
          params={{ id: one.last_run_id }}
          className="link inline-flex min-h-7 min-w-6 items-center tabular-nums"
        >
          {number(one.failures, one.more_failures)}
        </Link>
      ),
    },
    {
      id: 'success',
      header: t('failing.last_success'),
      cell: (one) =>
        one.last_success_time ? (
          <Time at={one.last_success_time} past />
        ) : (
          <span className="text-muted">{t('failing.no_success')}</span>
        ),
    },
    {
      id: 'letters',
      header: t('dead.title'),
      cell: (one) => (
        <Link
          to="/admin/dead-letters"
          search={{ job_id: one.job_id }}
          aria-label={t('failing.letters_of', { job: one.job_id })}
          className="link inline-flex min-h-7 min-w-6 items-center tabular-nums"
        >
          {one.dead_letters === null
            ? t('overview.see')
            : number(one.dead_letters, one.dead_letters >= COUNTED_MAX)}
        </Link>
      ),
    },
    {
      id: 'actions',
      header: <span className="sr-only">{t('actions')}</span>,
      cell: (one) => <AllOf jobId={one.job_id} onAsk={onAsk} />,
    },
  ];
  return (
    <Card
      className="mb-4 overflow-hidden"
      flush
      title={
        <>
          {t('failing.title')}
          {total && <span className="text-muted"> · {number(total.n, total.more)}</span>}
        </>
      }
    >
      <p className="px-4 pt-3 text-muted">{t('failing.hint')}</p>
      <DataTable label={t('failing.title')} columns={columns} rows={rows} rowId={(one) => one.job_id} />
      <MoreButton query={failing} />
    </Card>
  );
}

// Buttons that retry or discard all dead letters of a job.
export function AllOf({ jobId, onAsk }: { jobId: string; onAsk: AskAll }) {
  const { t } = useTranslation();
  const may = useMay('jobs:run');
  const button = (action: DeadLetterAction) => {
    const Icon = action === 'retry' ? RotateCcw : Trash2;
    return (
      <button
        type="button"
        className={'button ' + (action === 'discard' ? 'button-danger' : '')}
        aria-label={t(`dead.${action}_all_named`, { job: jobId })}
        disabled={!may}
        title={may ? undefined : t('denied.write')}
        onClick={(event) => onAsk(jobId, action, event.currentTarget)}
      >
        <Icon aria-hidden size={15} />
        {t(`dead.${action}_all`)}
      </button>
    );
  };
  return (
    <div className="flex flex-wrap justify-end gap-2">
      {button('retry')}
      {button('discard')}
    </div>
  );
}

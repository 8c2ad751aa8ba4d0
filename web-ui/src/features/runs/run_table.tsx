// Runs as rows: the fleet's history, and that of one job.
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Run } from '../../api/types';
import { useTextOr } from '../../i18n/text_or';
import { useNow } from '../../shared/clock';
import { DataTable, type Column, type Sorting } from '../../shared/data_table';
import { span } from '../../shared/format';
import { StateBadge } from '../../shared/state_badge';
import { Time } from '../../shared/time';
import { duration } from './run_text';

// `brief`: beside other cards, without what the run's own page says as well.
export function RunTable(props: {
  runs: Run[]; withJob: boolean; zone?: string; brief?: boolean;
  first?: Column<Run>; last?: Column<Run>[]; isShown?: (id: string) => boolean;
  sorting?: Sorting;
}) {
  const { t } = useTranslation();
  const columns: (Column<Run> | false | undefined)[] = [
    props.first,
    { id: 'state', header: t('runs.state'), cell: (run) => <StateBadge state={run.state} /> },
    props.withJob && {
      id: 'name', header: t('runs.job'),
      cell: (run) => (
        <Link to="/jobs/$id" params={{ id: run.job_id }} className="text-ink no-underline hover:underline">
          {run.job_name || run.job_id}
        </Link>
      ),
    },
    {
      id: 'fire', header: t('runs.fire'), sort: 'fire_time',
      cell: (run) => (
        <Link to="/runs/$id" params={{ id: run.run_id }} className="link"><Time at={run.fire_time} zone={props.zone} /></Link>
      ),
    },
    !props.brief && { id: 'kind', header: t('runs.kind'), cell: (run) => <Kind run={run} /> },
    { id: 'duration', header: t('runs.duration'), cell: (run) => <Duration run={run} /> },
    !props.brief && {
      id: 'executor', header: t('runs.executor'),
      cell: (run) => <span className="whitespace-nowrap text-muted">{run.executor_id ?? '–'}</span>,
    },
    { id: 'why', header: t('runs.why'), cell: (run) => <Why run={run} /> },
    ...(props.last ?? []),
  ];
  const shown = columns.filter((one) => typeof one === 'object').filter((one) => props.isShown?.(one.id) ?? true);
  return <DataTable label={t('nav.runs')} columns={shown} rows={props.runs} rowId={(run) => run.run_id} sorting={props.sorting} />;
}

function Kind({ run }: { run: Run }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  return (
    <span className="whitespace-nowrap text-muted">
      {textOr('kind.', run.kind)}{run.attempt > 1 && ' · ' + t('runs.attempt_n', { n: run.attempt })}
    </span>
  );
}

function Duration({ run }: { run: Run }) {
  return run.state === 'RUNNING' ? <Running run={run} /> : <Spent ms={duration(run, 0)} ended={run.ended_at !== null} />;
}
function Running({ run }: { run: Run }) {
  return <Spent ms={duration(run, useNow())} ended />;
}
function Spent({ ms, ended }: { ms: number | null; ended: boolean }) {
  return <span className="whitespace-nowrap tabular-nums">{ms === null || !ended ? '–' : span(Math.max(0, ms))}</span>;
}

function Why({ run }: { run: Run }) {
  const textOr = useTextOr();
  const text = run.exit_code ? `${textOr('reason.', run.reason)} ${run.exit_code}` : textOr('reason.', run.reason);
  return <span className="whitespace-nowrap text-muted" title={run.error ?? undefined}>{run.state === 'COMPLETED' ? '' : text}</span>;
}

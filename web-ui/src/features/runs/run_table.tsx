// Runs as rows: the fleet's history, and that of one job.
import { Link } from '@tanstack/react-router';
import { createColumnHelper, flexRender, getCoreRowModel, useReactTable } from '@tanstack/react-table';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../../api/types';
import { useTextOr } from '../../i18n/text_or';
import { useNow } from '../../shared/clock';
import { span } from '../../shared/format';
import { StateBadge } from '../../shared/state_badge';
import { Time } from '../../shared/time';
import { TableFrame } from '../../shared/ui';
import { duration } from './run_text';

const column = createColumnHelper<Run>();

export function RunTable(props: { runs: Run[]; withJob: boolean; zone?: string }) {
  const { t } = useTranslation();
  const columns = useMemo(() => [
    column.display({ id: 'state', header: () => t('runs.state'), cell: ({ row }) => <StateBadge state={row.original.state} /> }),
    ...(props.withJob ? [column.display({
      id: 'name', header: () => t('runs.job'),
      cell: ({ row }) => (
        <Link to="/jobs/$id" params={{ id: row.original.job_id }} className="text-ink no-underline hover:underline">
          {row.original.job_name || row.original.job_id}
        </Link>
      ),
    })] : []),
    column.display({
      id: 'fire', header: () => t('runs.fire'),
      cell: ({ row }) => (
        <Link to="/runs/$id" params={{ id: row.original.run_id }} className="link">
          <Time at={row.original.fire_time} zone={props.zone} />
        </Link>
      ),
    }),
    column.display({ id: 'kind', header: () => t('runs.kind'), cell: ({ row }) => <Kind run={row.original} /> }),
    column.display({ id: 'duration', header: () => t('runs.duration'), cell: ({ row }) => <Duration run={row.original} /> }),
    column.display({ id: 'executor', header: () => t('runs.executor'), cell: ({ row }) => <span className="text-muted">{row.original.executor_id ?? '–'}</span> }),
    column.display({ id: 'why', header: () => t('runs.why'), cell: ({ row }) => <Why run={row.original} /> }),
  ], [t, props.withJob, props.zone]);
  const table = useReactTable({ data: props.runs, columns, getCoreRowModel: getCoreRowModel(), getRowId: (run) => run.run_id });
  return (
    <TableFrame label={t('nav.runs')}>
      <table className="table cards">
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id}>
              {group.headers.map((header) => (
                <th key={header.id} scope="col">{flexRender(header.column.columnDef.header, header.getContext())}</th>
              ))}
            </tr>
          ))}
        </thead>
        <tbody>
          {table.getRowModel().rows.map((row) => (
            <tr key={row.id}>
              {row.getVisibleCells().map((cell) => (
                <td key={cell.id} data-column={cell.column.id}>{flexRender(cell.column.columnDef.cell, cell.getContext())}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </TableFrame>
  );
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
  return <span className="text-muted" title={run.error ?? undefined}>{run.state === 'COMPLETED' ? '' : text}</span>;
}

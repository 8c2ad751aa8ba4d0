// Table of what an import has read: a row for each thing of the other scheduler, with its verdict.
import './texts.en';
import { Link } from '@tanstack/react-router';
import { memo, useState } from 'react';
import { useTranslation } from '../../../i18n/use_translation';
import { absoluteTime } from '../../../lib/format';
import { DataTable, type Column } from '../../../ui/data_table';
import { Card, Problem, Segments } from '../../../ui/ui';
import { Hints } from '../form/preview';
import type { Outcome } from './create_jobs';
import { countsOf, outcomeOf, rowsWith, type Outcomes, type ReportRow, type Shown } from './report';

const SHOWN_AT_ONCE = 200; // rows; thousands of them would make the page slow
const TONES = { mapped: 'text-ok', remarked: 'text-warn', refused: 'text-bad' } as const;

export function ImportReport({ rows, outcomes }: { rows: readonly ReportRow[]; outcomes: Outcomes }) {
  const { t } = useTranslation();
  const [shown, setShown] = useState<Shown>('all');
  const [most, setMost] = useState(SHOWN_AT_ONCE);
  const counts = countsOf(rows, outcomes);
  const some = rowsWith(rows, shown, outcomes);
  const visible = some.slice(0, most);
  const filters = (['all', 'remarked', 'refused', 'warned', 'failed'] as const).filter(
    (one) => one === 'all' || one === shown || counts[one] > 0,
  );
  const columns: Column<ReportRow>[] = [
    { id: 'name', header: t('imports.row'), cell: (row) => <span className="break-all">{row.source}</span> },
    { id: 'verdict', header: t('imports.verdict'), cell: (row) => <Verdict row={row} /> },
    {
      id: 'job',
      header: t('imports.job'),
      cell: (row) => <Job row={row} outcome={outcomeOf(row, outcomes)} />,
    },
    { id: 'expression', header: t('imports.expression'), cell: (row) => <Expression row={row} /> },
    { id: 'next', header: t('imports.next'), cell: (row) => <Next row={row} /> },
  ];
  return (
    <Card title={t('imports.report')} flush>
      <div className="flex flex-wrap items-center gap-3 p-4">
        <Segments
          label={t('imports.show')}
          value={shown}
          choices={filters.map((value) => ({
            value,
            label: `${t(`imports.show_${value}`)} ${counts[value]}`,
          }))}
          onChange={(value) => {
            setShown(value as Shown);
            setMost(SHOWN_AT_ONCE);
          }}
        />
        {visible.length < some.length && (
          <span className="text-muted">{t('imports.first', { n: visible.length, of: some.length })}</span>
        )}
      </div>
      <DataTable
        label={t('imports.report')}
        columns={columns}
        rows={visible}
        rowId={(row) => String(row.index)}
      />
      {visible.length < some.length && (
        <div className="p-4">
          <button type="button" className="button" onClick={() => setMost(most + SHOWN_AT_ONCE)}>
            {t('imports.more')}
          </button>
        </div>
      )}
    </Card>
  );
}

// A creation changes the outcomes only, so the other cells are not rendered again.
const Verdict = memo(function Verdict({ row }: { row: ReportRow }) {
  const { t } = useTranslation();
  return (
    <>
      <span className={'font-medium ' + TONES[row.verdict]} data-verdict={row.verdict}>
        {t(`imports.verdict_${row.verdict}`)}
      </span>
      <ul className="max-w-[60ch]">
        {row.remarks.map((remark) => (
          <li key={remark}>{remark}</li>
        ))}
      </ul>
    </>
  );
});

const Job = memo(function Job({ row, outcome }: { row: ReportRow; outcome: Outcome | undefined }) {
  const { t } = useTranslation();
  if (row.job_id === null) return <span className="text-muted">–</span>;
  return (
    <>
      {outcome && outcome.result !== 'failed' ? (
        <Link to="/jobs/$id" params={{ id: row.job_id }} className="link mono break-all">
          {row.job_id}
        </Link>
      ) : (
        <span className="mono break-all">{row.job_id}</span>
      )}
      {outcome?.result === 'created' && <span className="block text-ok">{t('imports.created')}</span>}
      {outcome?.result === 'exists' && <span className="block text-warn">{t('imports.exists')}</span>}
      {outcome && <Hints warnings={outcome.warnings} />}
      {outcome?.result === 'failed' && (
        <div className="text-bad">
          {t('imports.failed')}
          {outcome.error && (
            <Problem
              code={outcome.error.code}
              detail={
                outcome.error.errors?.map((one) => `${one.pointer}: ${one.detail}`).join(' ') ||
                outcome.error.detail
              }
            />
          )}
        </div>
      )}
    </>
  );
});

const Expression = ({ row }: { row: ReportRow }) =>
  row.expression === null ? (
    <span className="text-muted">–</span>
  ) : (
    <code className="mono break-all">{row.expression}</code>
  );

const Next = memo(function Next({ row }: { row: ReportRow }) {
  if (row.next.length === 0) return <span className="text-muted">–</span>;
  return (
    <>
      <ol className="tabular-nums">
        {row.next.map((at) => (
          <li key={at} className="whitespace-nowrap">
            {absoluteTime(Date.parse(at), row.zone)}
          </li>
        ))}
      </ol>
      <span className="text-muted">{row.zone}</span>
    </>
  );
});

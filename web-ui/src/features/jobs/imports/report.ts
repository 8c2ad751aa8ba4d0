// The rows of an import's report: what was read, what becomes of it, and what became of it. Pure.
import type { Imported, ImportedRow } from '../../../api/types';
import type { Definition } from '../form/definition';
import type { Outcome } from './create_jobs';

export interface ReportRow extends ImportedRow {
  index: number;
  zone: string; // of the job's times
}
export type Outcomes = ReadonlyMap<string, Outcome>; // by job_id
export type Shown = 'all' | 'remarked' | 'refused' | 'warned' | 'failed';

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

function zoneOf(job: Definition | undefined, usual: string): string {
  const [first] = Array.isArray(job?.schedules) ? (job.schedules as Definition[]) : [];
  return textOf(first?.time_zone) ?? textOf(job?.time_zone) ?? usual;
}

export function rowsOf(imported: Imported, zone: string): ReportRow[] {
  const jobs = new Map((imported.jobs as Definition[]).map((job) => [job.job_id, job]));
  return imported.rows.map((row, index) => ({
    ...row,
    index,
    zone: row.job_id === null ? zone : zoneOf(jobs.get(row.job_id), zone),
  }));
}

export const outcomeOf = (row: ReportRow, outcomes: Outcomes): Outcome | undefined =>
  row.job_id === null ? undefined : outcomes.get(row.job_id);

const IS: Record<Shown, (row: ReportRow, outcomes: Outcomes) => boolean> = {
  all: () => true,
  remarked: (row) => row.verdict === 'remarked',
  refused: (row) => row.verdict === 'refused',
  warned: (row, outcomes) => (outcomeOf(row, outcomes)?.warnings.length ?? 0) > 0,
  failed: (row, outcomes) => outcomeOf(row, outcomes)?.result === 'failed',
};
export const rowsWith = (rows: readonly ReportRow[], shown: Shown, outcomes: Outcomes) =>
  rows.filter((row) => IS[shown](row, outcomes));

export const countsOf = (rows: readonly ReportRow[], outcomes: Outcomes): Record<Shown, number> => ({
  all: rows.length,
  remarked: rowsWith(rows, 'remarked', outcomes).length,
  refused: rowsWith(rows, 'refused', outcomes).length,
  warned: rowsWith(rows, 'warned', outcomes).length,
  failed: rowsWith(rows, 'failed', outcomes).length,
});

export function tally(outcomes: Outcomes): Record<Outcome['result'], number> {
  const sums = { created: 0, exists: 0, failed: 0 };
  for (const { result } of outcomes.values()) sums[result]++;
  return sums;
}

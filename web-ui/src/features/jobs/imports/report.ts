// The rows of an import's report: what was read, what becomes of it, and what became of it. Pure.
import type { Imported, ImportedRow } from '../../../api/types';
import type { Definition } from '../form/definition';
import type { Outcome } from './create_jobs';

export interface ReportRow extends ImportedRow {
  index: number;
  zone: string; // of the job's times
  outcome: Outcome | undefined;
}
export type Shown = 'all' | 'remarked' | 'refused' | 'failed';

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

function zoneOf(job: Definition | undefined, usual: string): string {
  const [first] = Array.isArray(job?.schedules) ? (job.schedules as Definition[]) : [];
  return textOf(first?.time_zone) ?? textOf(job?.time_zone) ?? usual;
}

export function rowsOf(
  imported: Imported,
  zone: string,
  outcomes: ReadonlyMap<string, Outcome>,
): ReportRow[] {
  const jobs = new Map((imported.jobs as Definition[]).map((job) => [job.job_id, job]));
  return imported.rows.map((row, index) => ({
    ...row,
    index,
    zone: row.job_id === null ? zone : zoneOf(jobs.get(row.job_id), zone),
    outcome: row.job_id === null ? undefined : outcomes.get(row.job_id),
  }));
}

const IS: Record<Shown, (row: ReportRow) => boolean> = {
  all: () => true,
  remarked: (row) => row.verdict === 'remarked',
  refused: (row) => row.verdict === 'refused',
  failed: (row) => row.outcome?.result === 'failed',
};
export const rowsWith = (rows: readonly ReportRow[], shown: Shown) => rows.filter(IS[shown]);

export const countsOf = (rows: readonly ReportRow[]): Record<Shown, number> => ({
  all: rows.length,
  remarked: rowsWith(rows, 'remarked').length,
  refused: rowsWith(rows, 'refused').length,
  failed: rowsWith(rows, 'failed').length,
});

export function tally(outcomes: ReadonlyMap<string, Outcome>): Record<Outcome['result'], number> {
  const sums = { created: 0, exists: 0, failed: 0 };
  for (const { result } of outcomes.values()) sums[result]++;
  return sums;
}

// Table of runs: of one job, or of all jobs.
import { Link } from '@tanstack/react-router';
import type { Run } from '../../../api/types';
import { useTextOr } from '../../../i18n/text_or';
import { serverNow } from '../../../lib/server_clock';
import { useTranslation } from '../../../i18n/use_translation';
import { Bar } from '../../../ui/bar';
import { useNow } from '../../../lib/clock';
import { DataTable, type Column, type Sorting } from '../../../ui/data_table';
import { span } from '../../../lib/format';
import { usePreferences } from '../../../lib/preferences';
import { StateBadge } from '../../../ui/state_badge';
import { Time } from '../../../ui/time';
import { ExecutorLink } from './executor_link';
import { duration } from './duration';

// `brief`: the table leaves out details, because it stands beside other cards.
export function RunTable(props: {
  runs: Run[];
  withJob: boolean;
  zone?: string;
  brief?: boolean;
  first?: Column<Run>;
  last?: Column<Run>[];
  isShown?: (id: string) => boolean;
  sorting?: Sorting;
}) {
  const { t } = useTranslation();
  const longest = Math.max(0, ...props.runs.map((run) => duration(run, serverNow()) ?? 0));
  const columns: (Column<Run> | false | undefined)[] = [
    props.first,
    { id: 'state', header: t('runs.state'), cell: (run) => <StateBadge state={run.state} /> },
    props.withJob && {
      id: 'name',
      header: t('runs.job'),
      cell: (run) => (
        <Link to="/jobs/$id" params={{ id: run.job_id }} className="text-ink no-underline hover:underline">
          {run.job_name || run.job_id}
        </Link>
      ),
    },
    {
      id: 'fire',
      header: t('runs.fire'),
      sort: 'fire_time',
      cell: (run) => (
        <Link to="/runs/$id" params={{ id: run.run_id }} className="link">
          <Time at={run.fire_time} zone={props.zone} />
        </Link>
      ),
    },
    !props.brief && { id: 'kind', header: t('runs.kind'), cell: (run) => <Kind run={run} /> },
    { id: 'duration', header: t('runs.duration'), cell: (run) => <Duration run={run} longest={longest} /> },
    !props.brief && {
      id: 'executor',
      header: t('runs.executor'),
      cell: (run) => <ExecutorLink id={run.executor_id} />,
    },
    { id: 'why', header: t('runs.why'), cell: (run) => <Why run={run} /> },
    ...(props.last ?? []),
  ];
  const shown = columns
    .filter((one) => typeof one === 'object')
    .filter((one) => props.isShown?.(one.id) ?? true);
  return (
    <DataTable
      label={t('nav.runs')}
      columns={shown}
      rows={props.runs}
      rowId={(run) => run.run_id}
      sorting={props.sorting}
    />
  );
}

function Kind({ run }: { run: Run }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  return (
    <span className="whitespace-nowrap text-muted">
      {textOr('kind.', run.kind)}
      {run.node && ' · ' + run.node}
      {run.attempt > 1 && ' · ' + t('runs.attempt_n', { n: run.attempt })}
    </span>
  );
}

// A bar's length is relative to the longest run in the table.
interface Length {
  run: Run;
  longest: number;
}

function Duration({ run, longest }: Length) {
  return run.state === 'RUNNING' ? (
    <Running run={run} longest={longest} />
  ) : (
    <Spent ms={run.ended_at === null ? null : duration(run, 0)} longest={longest} />
  );
}
function Running({ run, longest }: Length) {
  return <Spent ms={duration(run, useNow())} longest={longest} />;
}
function Spent({ ms, longest }: { ms: number | null; longest: number }) {
  const { language } = usePreferences();
  if (ms === null) return <span>–</span>;
  return (
    <span className="inline-block whitespace-nowrap tabular-nums">
      {span(ms, language)}
      <Bar share={longest > 0 ? ms / longest : 0} className="mt-0.5 h-1 w-20 rounded-full" />
    </span>
  );
}

function Why({ run }: { run: Run }) {
  const textOr = useTextOr();
  const text = run.exit_code
    ? `${textOr('reason.', run.reason)} ${run.exit_code}`
    : textOr('reason.', run.reason);
  return (
    <span className="whitespace-nowrap text-muted" title={run.error ?? undefined}>
      {run.state === 'COMPLETED' ? '' : text}
    </span>
  );
}

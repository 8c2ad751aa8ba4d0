// Card of a run that fans out: a cell for each of its parts, which arrow keys walk through, and the table with the
// same content, both filtered by state; the buttons that retry parts.
import '../runs/detail/texts.en';
import './texts.en';
import { Link } from '@tanstack/react-router';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { RotateCcw } from 'lucide-react';
import { Suspense, lazy, memo, useCallback, useRef, useState, type KeyboardEvent } from 'react';
import { ApiError, call } from '../../api/client';
import { newKey } from '../../api/keys';
import { useRunShards, type RunShard } from '../../api/shards';
import { FINAL_STATES, type Run } from '../../api/types';
import { useDenied } from '../../auth/session';
import { statePermits } from '../../auth/state_permits';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { useNow } from '../../lib/clock';
import { count, span } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { DataTable, type Column } from '../../ui/data_table';
import { StateBadge, StateShape } from '../../ui/state_badge';
import { Time } from '../../ui/time';
import { toast, toastError } from '../../ui/toasts';
import { Card, LoadFailure, Loading, Segments, explain } from '../../ui/ui';
import { ExecutorLink } from '../lists/runs/executor_link';
import { anyFailed, countsOf, moved, tookMs } from './shard_values';

const ConfirmDialog = lazy(() => import('../../ui/dialogs/confirm_dialog'));
const ROWS = 20; // of the table, until all are asked for

export default function ShardsCard({ run }: { run: Run }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const { language } = usePreferences();
  const shards = useRunShards(run);
  const [chosen, setChosen] = useState('');
  const [all, setAll] = useState(false);
  if (shards.isPending) return <Loading />;
  if (!shards.data) return <LoadFailure error={shards.error} onRetry={() => void shards.refetch()} />;
  const every = shards.data.shards;
  const shown = chosen ? every.filter((one) => one.state === chosen) : every;
  const choice = (value: string, state: string, n: number) => ({
    value,
    label: t('shards.count', { state, n: count(n, language) }),
  });
  return (
    <>
      <Card title={t('shards.title')} actions={<Retry run={run} shards={every} />}>
        <div className="grid gap-3">
          <Segments
            label={t('shards.filter')}
            value={chosen}
            onChange={setChosen}
            choices={[
              choice('', t('shards.all'), every.length),
              ...countsOf(every).map(([state, n]) => choice(state, textOr('state.', state), n)),
              // The last part has left the state by which the user filters.
              ...(chosen && shown.length === 0 ? [choice(chosen, textOr('state.', chosen), 0)] : []),
            ]}
          />
          {shown.length === 0 ? <p className="text-muted">{t('shards.none')}</p> : <Cells shards={shown} />}
        </div>
      </Card>
      <div className="card overflow-hidden">
        <Table shards={all ? shown : shown.slice(0, ROWS)} />
        {!all && shown.length > ROWS && (
          <p className="border-t p-3">
            <button type="button" className="button" onClick={() => setAll(true)}>
              {t('shards.more', { n: count(shown.length, language) })}
            </button>
          </p>
        )}
      </div>
    </>
  );
}

// The cells are one stop of the Tab key; arrow keys, Home and End move among them.
function Cells({ shards }: { shards: readonly RunShard[] }) {
  const { t } = useTranslation();
  const [current, setCurrent] = useState(0);
  const box = useRef<HTMLUListElement>(null);
  const onKeyDown = useCallback((event: KeyboardEvent<HTMLAnchorElement>) => {
    const cells = [...(box.current?.querySelectorAll('a') ?? [])];
    const columns = cells.filter((cell) => cell.offsetTop === cells[0]!.offsetTop).length;
    const to = moved(event.key, cells.indexOf(event.currentTarget), columns, cells.length);
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    event.preventDefault();
    cells[to]?.focus();
  }, []);
  const onFocus = useCallback((at: number) => setCurrent(at), []);
  const stop = Math.min(current, shards.length - 1);
  return (
    <ul ref={box} aria-label={t('shards.cells')} className="flex flex-wrap gap-1">
      {shards.map((shard, at) => (
        <li key={shard.run_id}>
          <Cell
            at={at}
            index={shard.index}
            run={shard.run_id}
            state={shard.state}
            executor={shard.executor_id}
            stops={at === stop}
            onKeyDown={onKeyDown}
            onFocus={onFocus}
          />
        </li>
      ))}
    </ul>
  );
}

const Cell = memo(function Cell(props: {
  at: number;
  index: number;
  run: string;
  state: string;
  executor: string | null;
  stops: boolean;
  onKeyDown: (event: KeyboardEvent<HTMLAnchorElement>) => void;
  onFocus: (at: number) => void;
}) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const label = t(props.executor ? 'shards.cell_on' : 'shards.cell', {
    index: props.index,
    state: textOr('state.', props.state),
    executor: props.executor,
  });
  return (
    <Link
      to="/runs/$id"
      params={{ id: props.run }}
      aria-label={label}
      title={label}
      tabIndex={props.stops ? 0 : -1}
      onKeyDown={props.onKeyDown}
      onFocus={() => props.onFocus(props.at)}
    >
      <StateShape state={props.state} className="grid size-6 place-items-center rounded" />
    </Link>
  );
});

function Table({ shards }: { shards: readonly RunShard[] }) {
  const { t } = useTranslation();
  const columns: Column<RunShard>[] = [
    {
      id: 'name',
      header: t('shards.index'),
      cell: (shard) => (
        <Link
          to="/runs/$id"
          params={{ id: shard.run_id }}
          className="link inline-flex min-h-6 items-center tabular-nums"
        >
          {shard.index}
        </Link>
      ),
    },
    { id: 'state', header: t('runs.state'), cell: (shard) => <StateBadge state={shard.state} /> },
    { id: 'executor', header: t('runs.executor'), cell: (shard) => <ExecutorLink id={shard.executor_id} /> },
    { id: 'attempt', header: t('shards.attempt'), cell: (shard) => shard.attempt },
    {
      id: 'started',
      header: t('shards.started'),
      cell: (shard) => (shard.started_at ? <Time at={shard.started_at} /> : '–'),
    },
    { id: 'duration', header: t('shards.duration'), cell: (shard) => <Took shard={shard} /> },
    { id: 'reason', header: t('shards.reason'), cell: (shard) => <Why shard={shard} /> },
  ];
  return (
    <DataTable label={t('shards.table')} columns={columns} rows={shards} rowId={(shard) => shard.run_id} />
  );
}

function Took({ shard }: { shard: RunShard }) {
  const { language } = usePreferences();
  // Only of those that run it changes with the clock: there may be a thousand.
  if (shard.started_at && !shard.ended_at) return <TakesNow shard={shard} />;
  const ms = tookMs(shard, 0);
  return <span className="tabular-nums">{ms === null ? '–' : span(ms, language)}</span>;
}

function TakesNow({ shard }: { shard: RunShard }) {
  const { language } = usePreferences();
  return <span className="tabular-nums">{span(tookMs(shard, useNow()) ?? 0, language)}</span>;
}

function Why({ shard }: { shard: RunShard }) {
  const textOr = useTextOr();
  return shard.reason ? textOr('reason.', shard.reason) : '–';
}

// Buttons that retry what failed or, of a run that has ended, everything. The run of a node is retried as a whole, by its
// workflow.
function Retry({ run, shards }: { run: Run; shards: readonly RunShard[] }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const client = useQueryClient();
  const denied = useDenied()(run, 'retry');
  const [asking, setAsking] = useState<{ which: 'failed' | 'all'; anyway: boolean } | null>(null);
  const key = useRef(newKey());
  const retry = useMutation({
    mutationFn: ({ which, anyway }: { which: 'failed' | 'all'; anyway: boolean }) =>
      call<Run>('POST', `runs/${encodeURIComponent(run.run_id)}/retry`, {
        body: { shards: which, ...(anyway ? { confirm_overlap: true } : {}) },
        idempotencyKey: key.current + which + (anyway ? 'anyway' : ''),
      }),
    onSuccess: () => {
      key.current = newKey();
      toast(t('run.retried'));
      void client.invalidateQueries({ queryKey: ['runs'] });
    },
    onError: (error, { which, anyway }) => {
      if (error instanceof ApiError && error.code === 'request_in_flight') return;
      // Without an answer the retry may have been done: its key is kept, so that a repetition has no second effect.
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) key.current = newKey();
      if (!anyway && error instanceof ApiError && error.asksOverlap) setAsking({ which, anyway: true });
      else toastError(t('error.action'), explain(error, t));
    },
  });
  if (run.workflow_run_id || !statePermits(run, 'retry')) return null;
  const n = count(shards.length, language);
  const button = (label: string, onClick: () => void) => (
    <button
      type="button"
      className="button"
      disabled={Boolean(denied) || retry.isPending}
      title={denied && t(denied)}
      onClick={onClick}
    >
      <RotateCcw aria-hidden size={15} />
      {label}
    </button>
  );
  return (
    <span className="flex flex-wrap gap-2">
      {anyFailed(shards) &&
        button(t('shards.retry_failed'), () => retry.mutate({ which: 'failed', anyway: false }))}
      {FINAL_STATES.has(run.state) &&
        button(t('shards.retry_all'), () => setAsking({ which: 'all', anyway: false }))}
      {asking && (
        <Suspense>
          <ConfirmDialog
            title={t(asking.anyway ? 'shards.anyway' : 'shards.all_title', { count: shards.length, n })}
            explain={t(asking.anyway ? 'run.overlap' : 'shards.all_explain')}
            confirm={t(asking.anyway ? 'run.overlap_confirm' : 'shards.retry_all')}
            onClose={() => setAsking(null)}
            onConfirm={() => retry.mutate(asking)}
          />
        </Suspense>
      )}
    </span>
  );
}

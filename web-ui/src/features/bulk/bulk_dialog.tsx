// Dialog of a bulk action. It asks first, then shows the progress and the result of each item.
import './texts.en';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleCheck, CircleX } from 'lucide-react';
import { useRef, useState } from 'react';
import { newKey } from '../../api/keys';
import type { BulkAction } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { Field } from '../../ui/field';
import { Modal } from '../../ui/dialogs/modal';
import { Loading, Problem, explain } from '../../ui/ui';
import { useBulkTitle } from './bulk_text';
import { ItemName } from './item_name';
import { Progress } from './progress';
import { useBulk } from './bulk_queries';
import {
  UNSURE,
  act,
  runsInBackground,
  hand,
  isUnsure,
  preview,
  type Action,
  type Answer,
  type Item,
  type Kind,
  type Row,
  type Target,
} from './bulk';

const REASON_MAX = 1000;
const ITEMS_SHOWN = 50; // items listed for each outcome

type Stage =
  | { at: 'asking'; error?: unknown }
  | { at: 'handing' }
  | { at: 'handed'; bulk: BulkAction }
  | { at: 'going'; asked: number }
  | { at: 'done'; items: Item[] };

export default function BulkDialog(props: {
  kind: Kind;
  action: Action;
  target: Target;
  leftOut: number;
  rows: readonly Row[];
  finalFocus: () => HTMLElement | null;
  onClose: () => void;
  onDone: (failed: string[]) => void;
  onHanded: (bulk: BulkAction) => void;
}) {
  const { t } = useTranslation();
  const titleOf = useBulkTitle();
  const client = useQueryClient();
  const { kind, action, target } = props;
  const words = kind === 'job' && action === 'cancel' ? 'cancel_jobs' : action;
  const [stage, setStage] = useState<Stage>({ at: 'asking' });
  const [reason, setReason] = useState('');
  const [overlap, setOverlap] = useState(false);
  const [kill, setKill] = useState(false);
  const stop = useRef(false);
  // If the user submits the same options again, the request has the same key. So the server executes it once.
  const submission = useRef({ options: '', key: '' });
  const look = useQuery({
    queryKey: ['preview', 'bulk', kind, action, target],
    queryFn: ({ signal }) => preview(kind, action, target, signal),
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
  const ids = look.data?.items.map((item) => item.id) ?? [];
  const options = {
    reason: reason.trim() || undefined,
    confirm_overlap: overlap || undefined,
    mode: kill ? ('kill' as const) : undefined,
  };
  const handOver = async (seen: Answer) => {
    const said = JSON.stringify(options);
    if (submission.current.options !== said) submission.current = { options: said, key: newKey() };
    setStage({ at: 'handing' });
    try {
      const bulk = await hand(kind, action, target, seen, options, submission.current.key);
      setStage({ at: 'handed', bulk });
      props.onHanded(bulk);
      void client.invalidateQueries({ queryKey: ['bulk'] });
    } catch (error) {
      setStage({ at: 'asking', error });
    }
  };
  const go = async () => {
    if (look.data && runsInBackground(look.data)) return handOver(look.data);
    setStage({ at: 'going', asked: 0 });
    const items = await act(kind, action, ids, options, {
      go: (asked) => {
        setStage({ at: 'going', asked });
        return !stop.current;
      },
      explain: (error) => explain(error, t),
      notTried: (stopped) => t(stopped ? 'bulk.stopped' : 'bulk.not_tried'),
    });
    setStage({ at: 'done', items });
    // Items with an unknown outcome are not selected for another attempt, because it would have another key.
    // The user decides after looking at these items.
    props.onDone(items.filter((item) => item.error && item.result !== UNSURE).map((item) => item.id));
    for (const queryKey of [['jobs'], ['runs'], ['dead-letters'], ['failing-jobs']])
      void client.invalidateQueries({ queryKey });
  };
  const close = () => {
    if (stage.at !== 'going' && stage.at !== 'handing') props.onClose();
  };
  const possible = look.data?.items.some((item) => !item.error) ?? false;
  return (
    <Modal
      open
      onClose={close}
      finalFocus={props.finalFocus}
      title={
        stage.at === 'asking' || stage.at === 'handing'
          ? t(`bulk.title_${words}`)
          : titleOf({ action, kind, total: stage.at === 'handed' ? stage.bulk.total : ids.length })
      }
      actions={
        stage.at === 'going' ? (
          <button
            type="button"
            className="button"
            onClick={() => {
              stop.current = true;
            }}
          >
            {t('bulk.stop')}
          </button>
        ) : stage.at === 'done' ? (
          <button type="button" className="button button-primary" onClick={close}>
            {t('close')}
          </button>
        ) : stage.at === 'handed' ? (
          <>
            <button type="button" className="button" onClick={close}>
              {t('close')}
            </button>
            <Link to="/bulk/$id" params={{ id: stage.bulk.bulk_id }} className="button button-primary">
              {t('bulk.follow')}
            </Link>
          </>
        ) : (
          <>
            <button type="button" className="button" onClick={close}>
              {t('cancel')}
            </button>
            <button
              type="button"
              className={
                'button ' + (action === 'cancel' || action === 'discard' ? 'button-danger' : 'button-primary')
              }
              disabled={!possible || stage.at === 'handing'}
              onClick={() => void go()}
            >
              {t(`bulk.${action}`)}
            </button>
          </>
        )
      }
    >
      {stage.at === 'going' ? (
        <Going asked={stage.asked} of={ids.length} />
      ) : stage.at === 'done' ? (
        <Done kind={kind} items={stage.items} rows={props.rows} />
      ) : stage.at === 'handed' ? (
        <Handed bulk={stage.bulk} />
      ) : look.isPending ? (
        <Loading />
      ) : look.isError ? (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
          {explain(look.error, t)}
        </p>
      ) : (
        <div className="grid gap-3">
          <Foreseen
            kind={kind}
            words={words}
            items={look.data.items}
            more={look.data.more}
            leftOut={props.leftOut}
            rows={props.rows}
          />
          <p className="text-muted">
            {t(`bulk.explain_${words}`)} {runsInBackground(look.data) && t('bulk.alone')}
          </p>
          {(action === 'pause' || action === 'release' || words === 'cancel_jobs') && (
            <Field label={t('reason.label')}>
              <input
                className="input"
                maxLength={REASON_MAX}
                value={reason}
                onChange={(event) => setReason(event.target.value)}
              />
            </Field>
          )}
          {action === 'cancel' && (
            <label className="flex items-start gap-2">
              <input
                type="checkbox"
                className="mt-0.5 size-4"
                checked={kill}
                onChange={(event) => setKill(event.target.checked)}
              />
              <span>
                {t('at_once.kill')}
                <span className="block text-xs text-muted">{t('at_once.hint')}</span>
              </span>
            </label>
          )}
          {((kind === 'run' && action !== 'release') || words === 'retry') && (
            <label className="flex items-start gap-2">
              <input
                type="checkbox"
                className="mt-0.5 size-4"
                checked={overlap}
                onChange={(event) => setOverlap(event.target.checked)}
              />
              <span>
                {t('bulk.overlap')}
                <span className="block text-xs text-muted">{t('bulk.overlap_hint')}</span>
              </span>
            </label>
          )}
          {stage.at === 'asking' && stage.error !== undefined && <NotHanded error={stage.error} />}
        </div>
      )}
    </Modal>
  );
}

function Foreseen(props: {
  kind: Kind;
  words: string;
  items: Item[];
  more: boolean;
  leftOut: number;
  rows: readonly Row[];
}) {
  const { t } = useTranslation();
  const refused = props.items.filter((item) => item.error);
  return (
    <>
      <p role="status" className="font-medium">
        {t(`bulk.would_${props.words}`, {
          would: props.items.length - refused.length,
          n: props.items.length,
        })}
      </p>
      {props.more && <p className="text-warn">{t('bulk.alone_more', { n: props.items.length })}</p>}
      {props.leftOut > 0 && <p className="text-muted">{t('bulk.left_out', { n: props.leftOut })}</p>}
      {refused.length > 0 && (
        <Items label={t('bulk.refused')} kind={props.kind} items={refused} rows={props.rows} />
      )}
    </>
  );
}

function Going({ asked, of }: { asked: number; of: number }) {
  const { t } = useTranslation();
  return (
    <div className="grid gap-2">
      <progress className="progress" aria-label={t('bulk.progress')} max={of} value={asked} />
      <p role="status">{t('bulk.asked', { asked, n: of })}</p>
    </div>
  );
}

function Handed({ bulk }: { bulk: BulkAction }) {
  const { t } = useTranslation();
  return (
    <div className="grid gap-3">
      <p role="status" className="font-medium">
        {t('bulk.handed')}
      </p>
      <Progress bulk={useBulk(bulk.bulk_id).data ?? bulk} />
    </div>
  );
}

function NotHanded({ error }: { error: unknown }) {
  const { t } = useTranslation();
  return (
    <div role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
      <p>{explain(error, t)}</p>
      {isUnsure(error) && (
        <p>
          {t('bulk.maybe_handed')}{' '}
          <Link to="/bulk" className="underline">
            {t('bulk.title')}
          </Link>
        </p>
      )}
    </div>
  );
}

function Done({ kind, items, rows }: { kind: Kind; items: Item[]; rows: readonly Row[] }) {
  const { t } = useTranslation();
  const unsure = items.filter((item) => item.result === UNSURE);
  const failed = items.filter((item) => item.error && item.result !== UNSURE);
  const done = items.filter((item) => !item.error);
  const counts = { done: done.length, failed: failed.length };
  return (
    <div className="grid gap-3">
      <p
        role="status"
        className={'font-medium ' + (failed.length + unsure.length > 0 ? 'text-bad' : 'text-ok')}
      >
        {unsure.length > 0
          ? t('bulk.result_unsure', { ...counts, unsure: unsure.length })
          : t('bulk.result', counts)}
      </p>
      {unsure.length > 0 && (
        <Items label={t('bulk.unsure')} hint={t('bulk.unsure_hint')} kind={kind} items={unsure} rows={rows} />
      )}
      {failed.length > 0 && (
        <Items label={t('bulk.failed')} hint={t('bulk.failed_hint')} kind={kind} items={failed} rows={rows} />
      )}
      {done.length > 0 && <Items label={t('bulk.done')} kind={kind} items={done} rows={rows} />}
    </div>
  );
}

function Items(props: { label: string; hint?: string; kind: Kind; items: Item[]; rows: readonly Row[] }) {
  const { t } = useTranslation();
  const names = new Map(props.rows.map((row) => [row.id, row.name]));
  return (
    <section aria-label={props.label}>
      <h3 className="text-sm">{props.label}</h3>
      {props.hint && <p className="text-xs text-muted">{props.hint}</p>}
      <ul className="mt-1 grid gap-2">
        {props.items.slice(0, ITEMS_SHOWN).map((item) => (
          <li key={item.id} className="flex min-h-6 items-start gap-2 break-words" data-item={item.id}>
            {item.error ? (
              <CircleX aria-hidden size={15} className="mt-0.5 shrink-0 text-bad" />
            ) : (
              <CircleCheck aria-hidden size={15} className="mt-0.5 shrink-0 text-ok" />
            )}
            <span className="min-w-0">
              <ItemName kind={props.kind} id={item.id} name={names.get(item.id)} />
              {item.error && (
                <span className="block text-muted">
                  <Problem {...item.error} />
                </span>
              )}
              {item.run_id && (
                <>
                  {' · '}
                  <Link to="/runs/$id" params={{ id: item.run_id }} className="link underline">
                    {t('bulk.its_run')}
                  </Link>
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
      {props.items.length > ITEMS_SHOWN && (
        <p className="text-muted">{t('schedule.more', { n: props.items.length - ITEMS_SHOWN })}</p>
      )}
    </section>
  );
}

// Tools above a list of jobs or runs: actions on the selection, saved views, columns. Their code is loaded
// after the page.
import '../bulk/texts.en';
import './texts.en';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Ban, Layers, Pause, Play, RotateCcw, Trash2, Unlock, X, Zap, type LucideIcon } from 'lucide-react';
import { Suspense, lazy, useEffect, useRef, useState } from 'react';
import type { BulkAction } from '../../api/types';
import { useMay } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { StateBadge } from '../../ui/state_badge';
import { toastError } from '../../ui/toasts';
import { explain } from '../../ui/ui';
import { useBulkTitle, useProgressText } from '../bulk/bulk_text';
import { useBulk } from '../bulk/bulk_queries';
import { ColumnsPanel } from './columns_panel';
import { ACTIONS, filterOf, preview, targetOf, type Action, type Target } from '../bulk/bulk';
import type { List } from './list';
import {
  NOTHING,
  areAllTicked,
  countOf,
  everything,
  only,
  tickShown,
  type Selection,
} from '../bulk/selection';
import { ViewsPanel } from './views_panel';

const BulkDialog = lazy(() => import('../bulk/bulk_dialog'));

const ICONS: Record<Action, LucideIcon> = {
  run: Zap,
  pause: Pause,
  resume: Play,
  cancel: Ban,
  retry: RotateCcw,
  release: Unlock,
  discard: Trash2,
};

interface Asked {
  action: Action;
  target: Target;
  leftOut: number;
  opener: HTMLElement;
}

export default function ListTools({ list, always }: { list: List; always: string }) {
  const { t, i18n } = useTranslation();
  const [handed, setHanded] = useState<BulkAction | null>(null);
  return (
    <>
      {list.rows.length > 0 && <Chosen {...list} onHanded={setHanded} />}
      {list.total && list.rows.length > 0 && (
        <span className="text-muted tabular-nums" data-testid="total">
          {t(list.total.n === 1 && !list.total.more ? `lists.one_${list.kind}` : `lists.total_${list.kind}`, {
            n: list.total.n.toLocaleString(i18n.language) + (list.total.more ? '+' : ''),
          })}
        </span>
      )}
      {handed && <Under bulk={handed} />}
      <div className="ml-auto flex min-w-0 gap-2">
        <Link to="/bulk" className="button button-icon" aria-label={t('bulk.title')} title={t('bulk.title')}>
          <Layers aria-hidden size={15} />
        </Link>
        <ViewsPanel kind={list.kind} />
        <ColumnsPanel columns={list.columns} always={always} />
      </div>
    </>
  );
}

// The last bulk action that was started from this list.
function Under({ bulk }: { bulk: BulkAction }) {
  const now = useBulk(bulk.bulk_id).data ?? bulk;
  const title = useBulkTitle()(now);
  return (
    <p className="flex min-w-0 flex-wrap items-center gap-x-2" data-testid="under-way">
      <StateBadge state={now.state} />
      <Link to="/bulk/$id" params={{ id: now.bulk_id }} className="link inline-flex min-h-6 items-center">
        {title}
      </Link>
      <span className="text-muted tabular-nums">{useProgressText()(now)}</span>
    </p>
  );
}

function Chosen(props: List & { onHanded: (bulk: BulkAction) => void }) {
  const { t } = useTranslation();
  const { kind, rows, selection, onSelect } = props;
  const [asked, setAsked] = useState<Asked | null>(null);
  const box = useRef<HTMLInputElement>(null);
  const ids = rows.map((row) => row.id);
  const ticked = selection.all !== null || areAllTicked(selection, ids);
  const count = countOf(selection);
  useEffect(() => {
    box.current!.indeterminate = count > 0 && !ticked;
  }, [count, ticked]);
  const clear = () => {
    onSelect(NOTHING);
    box.current!.focus();
  };
  return (
    <>
      <label className="flex min-h-8 items-center gap-2 text-muted">
        <input
          ref={box}
          type="checkbox"
          className="size-4"
          checked={ticked}
          onChange={() => onSelect(selection.all === null ? tickShown(selection, ids) : NOTHING)}
        />
        {t('lists.select_shown', { n: rows.length })}
      </label>
      <p role="status" className={count > 0 ? 'font-medium' : 'sr-only'}>
        {count > 0 && <SelectionCount selection={selection} />}
      </p>
      {ticked && props.hasMore && selection.all === null && <AllMatching {...props} />}
      {count > 0 && (
        <>
          <Actions {...props} onAsk={setAsked} />
          <button
            type="button"
            className="button button-plain button-icon"
            aria-label={t('lists.clear')}
            title={t('lists.clear')}
            onClick={clear}
          >
            <X aria-hidden size={15} />
          </button>
        </>
      )}
      {asked && (
        <Suspense>
          <BulkDialog
            action={asked.action}
            target={asked.target}
            leftOut={asked.leftOut}
            kind={kind}
            rows={rows}
            finalFocus={() => (asked.opener.isConnected ? asked.opener : box.current)}
            onClose={() => setAsked(null)}
            onDone={(failed) => onSelect(only(failed))}
            onHanded={(bulk) => {
              onSelect(NOTHING);
              props.onHanded(bulk);
            }}
          />
        </Suspense>
      )}
    </>
  );
}

function SelectionCount({ selection }: { selection: Selection }) {
  const { t } = useTranslation();
  if (selection.all === null) return t('lists.selected', { n: selection.ids.size });
  return t(selection.more ? 'lists.first_selected' : 'lists.all_selected', { n: selection.all });
}

// Button that selects everything that matches the filter. The server counts the matches, because not all rows
// are loaded.
function AllMatching({ kind, rows, search, onSelect }: List) {
  const { t } = useTranslation();
  const may = useMay('jobs:run');
  const count = useMutation({
    mutationFn: () => preview(kind, kind === 'job' ? 'run' : 'cancel', { filter: filterOf(kind, search) }),
    onSuccess: (answer) =>
      onSelect(
        everything(
          rows.map((row) => row.id),
          answer.total,
          answer.more,
        ),
      ),
    onError: (error) => toastError(t('error.action'), explain(error, t)),
  });
  return (
    <button
      type="button"
      className="button"
      disabled={!may || count.isPending}
      title={may ? undefined : t('denied.write')}
      onClick={() => count.mutate()}
    >
      {t('lists.all_matching')}
    </button>
  );
}

function Actions({ kind, rows, search, selection, onAsk }: List & { onAsk: (asked: Asked) => void }) {
  const { t } = useTranslation();
  const mayRun = useMay('jobs:run');
  const mayWrite = useMay('jobs:write');
  const may = (action: Action) => (action === 'pause' || action === 'resume' ? mayWrite : mayRun);
  return (
    <div role="group" aria-label={t('bulk.label')} className="flex flex-wrap items-center gap-2">
      {ACTIONS[kind].map((action) => {
        const target = targetOf(kind, action, selection, rows, search);
        if (action === 'release' && target === null) return null; // only few runs ever wait for others
        const Icon = ICONS[action];
        return (
          <button
            key={action}
            type="button"
            className="button"
            disabled={!may(action) || target === null}
            title={!may(action) ? t('denied.write') : target === null ? t('bulk.none_fits') : undefined}
            onClick={(event) =>
              target &&
              onAsk({
                action,
                target,
                leftOut: 'ids' in target ? selection.ids.size - target.ids.length : 0,
                opener: event.currentTarget,
              })
            }
          >
            <Icon aria-hidden size={15} />
            {t(`bulk.${action}`)}
          </button>
        );
      })}
      {!(mayRun && mayWrite) && <span className="text-muted">{t('denied.write')}</span>}
    </div>
  );
}

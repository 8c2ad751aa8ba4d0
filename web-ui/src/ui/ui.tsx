// Small components that all pages use.
import { Ban, Inbox, RefreshCw, SearchX, TriangleAlert } from 'lucide-react';
import { useEffect, useId, type ReactNode } from 'react';
import { ApiError } from '../api/client';
import { partsOf, problemText } from '../i18n/problems';
import { useTranslation } from '../i18n/use_translation';
import { Time } from './time';

export function Card(props: {
  title?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
  flush?: boolean;
}) {
  const id = useId();
  return (
    <section
      className={'card min-w-0 ' + (props.className ?? '')}
      aria-labelledby={props.title ? id : undefined}
    >
      {props.title && (
        <div className="flex min-h-11 flex-wrap items-center justify-between gap-2 border-b px-4 py-2">
          <h2 id={id} className="text-sm">
            {props.title}
          </h2>
          {props.actions}
        </div>
      )}
      <div className={props.flush ? '' : 'p-4'}>{props.children}</div>
    </section>
  );
}

export function PageHeader(props: {
  title: ReactNode;
  under?: ReactNode;
  actions?: ReactNode;
  documentTitle: string;
}) {
  useEffect(() => {
    document.title = props.documentTitle + ' · Carillon';
  }, [props.documentTitle]);
  return (
    <div className="mb-4 flex flex-wrap items-start justify-between gap-3">
      <div className="min-w-0">
        <h1 className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xl wrap-anywhere">{props.title}</h1>
        {props.under && <div className="mt-1 text-muted">{props.under}</div>}
      </div>
      {props.actions && <div className="flex flex-wrap gap-2">{props.actions}</div>}
    </div>
  );
}

// A region that scrolls if a table is wider than the page. Users can reach it by keyboard.
export function TableFrame(props: { label: string; children: ReactNode }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable area must be reachable by keyboard
    <div className="relative overflow-x-auto" role="region" aria-label={props.label} tabIndex={0}>
      {props.children}
    </div>
  );
}

export function Facts(props: { items: readonly (readonly [ReactNode, ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[minmax(7rem,auto)_1fr] gap-x-4 gap-y-2">
      {props.items.map(([name, value], i) => (
        <div key={i} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Labels(props: { labels: Record<string, string> }) {
  const entries = Object.entries(props.labels);
  if (entries.length === 0) return null;
  return (
    <span className="inline-flex flex-wrap gap-1">
      {entries.map(([name, value]) => (
        <span key={name} className="rounded bg-raised px-1.5 py-0.5 text-xs text-muted">
          {name}
          {value && (
            <>
              =<span className="text-ink">{value}</span>
            </>
          )}
        </span>
      ))}
    </span>
  );
}

// Shown instead of a list that has no items yet.
export function EmptyYet(props: { title: string; hint?: ReactNode; action?: ReactNode; command?: string }) {
  return (
    <Nothing icon={<Inbox aria-hidden size={28} />} title={props.title} hint={props.hint}>
      {props.action}
      {props.command && (
        <code className="mono block max-w-full overflow-x-auto rounded bg-code px-3 py-2">
          {props.command}
        </code>
      )}
    </Nothing>
  );
}

export function EmptyMatch(props: { onClear: () => void }) {
  const { t } = useTranslation();
  return (
    <Nothing icon={<SearchX aria-hidden size={28} />} title={t('empty.match')}>
      <button type="button" className="button" onClick={props.onClear}>
        {t('empty.clear')}
      </button>
    </Nothing>
  );
}

// `back` leads to the list in which the missing object would be. It replaces a retry, which would not find
// the object.
export function LoadFailure(props: { error: unknown; onRetry?: () => void; back?: ReactNode }) {
  const { t } = useTranslation();
  const error = props.error;
  const denied = error instanceof ApiError && error.status === 403;
  const missing = error instanceof ApiError && error.status === 404;
  return (
    <Nothing
      icon={denied ? <Ban aria-hidden size={28} /> : <TriangleAlert aria-hidden size={28} />}
      title={t(denied ? 'empty.denied' : missing ? 'empty.missing' : 'empty.failed')}
      hint={
        <>
          <Explained error={error} />
          {missing && <span className="block">{t('empty.missing_hint')}</span>}
        </>
      }
      alert
    >
      {error instanceof ApiError && (
        <p className="mono text-muted">
          {error.code}
          {error.traceId && ' · ' + error.traceId}
        </p>
      )}
      {missing && props.back}
      {props.onRetry && !(missing && props.back) && (
        <button type="button" className="button" onClick={props.onRetry}>
          <RefreshCw aria-hidden size={15} />
          {t('empty.retry')}
        </button>
      )}
    </Nothing>
  );
}

function Nothing(props: {
  icon: ReactNode;
  title: string;
  hint?: ReactNode;
  children?: ReactNode;
  alert?: boolean;
}) {
  return (
    <div
      className="flex flex-col items-center gap-3 px-4 py-12 text-center"
      role={props.alert ? 'alert' : undefined}
    >
      <span className="text-muted">{props.icon}</span>
      <p className="font-medium">{props.title}</p>
      {props.hint && <p className="max-w-prose text-muted">{props.hint}</p>}
      {props.children}
    </div>
  );
}

export function Loading() {
  const { t } = useTranslation();
  return (
    <p className="px-4 py-12 text-center text-muted" role="status">
      {t('loading')}
    </p>
  );
}

// Returns the text of an error for users.
export function explain(error: unknown, t: (key: string) => string): string {
  if (error instanceof ApiError) {
    return error.code === 'unreachable'
      ? t('error.unreachable')
      : problemText('problem', error.code, error.message) || t('error.unknown');
  }
  // An error in the console's own code. Its message is for developers.
  if (error instanceof TypeError) return t('error.part');
  return error instanceof Error ? error.message : t('error.unknown');
}

// Like explain, but the server's text is marked as English.
function Explained({ error }: { error: unknown }) {
  const { t } = useTranslation();
  if (!(error instanceof ApiError) || error.code === 'unreachable') return explain(error, t);
  return <Problem code={error.code} detail={error.message} />;
}

export function Problem({ code, detail }: { code: string; detail: string }) {
  const { said } = partsOf('problem', code, detail);
  if (said === '' && detail === '') return code;
  return (
    <>
      {said}
      {said && detail && ' '}
      {detail && <span lang="en">{detail}</span>}
    </>
  );
}

export interface Choice {
  value: string;
  label: string;
}

// A row of exclusive choices, such as the values of a filter.
export function Segments(props: {
  label: string;
  value: string;
  choices: readonly Choice[];
  onChange: (value: string) => void;
}) {
  return (
    <div
      role="group"
      aria-label={props.label}
      className="inline-flex min-h-[34px] flex-wrap rounded-md border border-line-strong bg-surface p-0.5"
    >
      {props.choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          aria-pressed={choice.value === props.value}
          onClick={() => props.onChange(choice.value)}
          className={
            'min-h-7 rounded px-2.5 ' +
            (choice.value === props.value
              ? 'bg-accent-soft font-medium text-accent'
              : 'text-muted hover:text-ink')
          }
        >
          {choice.label}
        </button>
      ))}
    </div>
  );
}

// A query of a list. One that reads everything at once has no pages.
export interface MoreQuery {
  hasNextPage?: boolean;
  isFetchingNextPage?: boolean;
  fetchNextPage?: () => unknown;
  data?: unknown;
}
const lastPage = ({ hasNextPage, data }: MoreQuery) =>
  hasNextPage ? (data as { pages: { searched_to?: string; searched?: string }[] }).pages.at(-1) : undefined;

// Returns the time up to which an unfinished search has gone back. undefined if there is no search, or if the
// search has ended.
export const searchedTo = (query: MoreQuery): string | undefined => lastPage(query)?.searched_to;

// True if a search for jobs stopped before a page was full and can be continued.
export const isUnfinished = (query: MoreQuery): boolean => lastPage(query)?.searched === 'unfinished';

export function MoreButton(props: { query: MoreQuery }) {
  const { t } = useTranslation();
  if (!props.query.hasNextPage) return null;
  const back = searchedTo(props.query);
  const unfinished = isUnfinished(props.query);
  return (
    <div className="border-t p-3 text-center">
      {back && (
        <p className="mb-2 text-muted" role="status">
          {t('list.searched_to')} <Time at={back} />
        </p>
      )}
      {unfinished && (
        <p className="mb-2 text-muted" role="status">
          {t('list.unfinished')}
        </p>
      )}
      <button
        type="button"
        className="button"
        disabled={props.query.isFetchingNextPage}
        onClick={() => void props.query.fetchNextPage?.()}
      >
        {t(back ? 'list.search_on' : unfinished ? 'list.continue' : 'list.more')}
      </button>
    </div>
  );
}

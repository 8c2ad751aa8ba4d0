// One action on many jobs, runs or dead letters. The action is requested in pieces, to show the progress. If
// a piece fails, the pieces before it stay done.
import { ApiError, call } from '../../api/client';
import { RUN_STATES, type BulkAction, type Problem } from '../../api/types';
import { newKey } from '../../api/keys';
import type { Selection } from './selection';

export type ListKind = 'job' | 'run';
export type Kind = ListKind | 'dead_letter';
export type JobAction = 'run' | 'pause' | 'resume' | 'cancel'; // cancel: all unfinished runs of the job
export type RunAction = 'cancel' | 'retry' | 'release';
export type DeadLetterAction = 'retry' | 'discard';
export type Action = JobAction | RunAction | DeadLetterAction;
export const ACTIONS: Record<Kind, readonly Action[]> = {
  job: ['run', 'pause', 'resume', 'cancel'],
  run: ['cancel', 'retry', 'release'],
  dead_letter: ['retry', 'discard'],
};

// The filter of a list. The names are those of the URL parameters.
export type Filter = Record<string, string | string[]>;
export type Target = { ids: string[] } | { filter: Filter };
export type Search = Record<string, string | string[] | undefined>;
export interface Row {
  id: string;
  name: string;
  state: string;
}

// The result of one item. `result` is the word that the server sent, or UNSURE if it is unknown whether the
// action was done.
export interface Item {
  id: string;
  result: string;
  run_id: string | null;
  error: Pick<Problem, 'code' | 'detail'> | null;
}
export interface Answer {
  total: number;
  more: boolean;
  items: Item[];
}

// Items per request. With this number the server answers well before the timeout. An action on more items
// runs on the server.
const PIECE = 50;
const IDS_MAX = 1000; // ids per request; the server's limit
const TRIES = 4; // requests for one piece, all with the same key
const AGAIN_MS = 1000;

export const UNSURE = 'unsure';

// The states in which each action on a run has an effect.
const FITS: Record<RunAction, ReadonlySet<string>> = {
  cancel: new Set(['PENDING', 'RUNNING', 'HELD']),
  retry: new Set(['FAILED', 'TIMED_OUT', 'LOST', 'CANCELLED', 'HELD']),
  release: new Set(['PENDING']), // a list does not say which of them wait for other jobs; the server refuses the others
};
// The filter that a list has while it shows only runs that wait for runs of other jobs.
export const WAITING = 'upstream_run';
const fits = (kind: Kind, action: Action, state: string) =>
  kind === 'run' ? FITS[action as RunAction].has(state) : true;

// Returns the filter of the list in the form of the API. The API requires at least one condition, and for
// runs the states.
export function filterOf(kind: ListKind, search: Search): Filter {
  const given = Object.entries(search).filter(
    (one): one is [string, string | string[]] => one[1] !== undefined && one[1].length > 0,
  );
  return { ...(kind === 'job' ? { q: '' } : { state: [...RUN_STATES] }), ...Object.fromEntries(given) };
}

// Returns the items to act on: their ids. If everything that matches is selected, returns the filter instead.
// null if the action applies to none of the selected rows.
export function targetOf(
  kind: ListKind,
  action: Action,
  selection: Selection,
  rows: readonly Row[],
  search: Search,
): Target | null {
  if (selection.all !== null) {
    const filter = filterOf(kind, search);
    if (kind === 'job') return { filter };
    const state = [filter.state!].flat().filter((one) => fits(kind, action, one));
    const meant: Filter = action === 'release' ? { ...filter, waiting: WAITING } : filter;
    return state.length > 0 ? { filter: { ...meant, state } } : null;
  }
  const states = new Map(rows.map((row) => [row.id, row.state]));
  const ids = [...selection.ids].filter((id) => !states.has(id) || fits(kind, action, states.get(id)!));
  return ids.length > 0 ? { ids } : null;
}

const piecesOf = (ids: readonly string[], size: number): string[][] =>
  Array.from({ length: Math.ceil(ids.length / size) }, (_, i) => ids.slice(i * size, (i + 1) * size));

// Asks the server in a dry run which items the action would affect, and which items it would refuse.
export async function preview(
  kind: Kind,
  action: Action,
  target: Target,
  signal?: AbortSignal,
): Promise<Answer> {
  const answers = await Promise.all(
    ('ids' in target ? piecesOf(target.ids, IDS_MAX).map((ids) => ({ ids })) : [target]).map((some) =>
      call<Answer>('POST', 'bulk', { body: { action, kind, ...some, dry_run: true }, signal }),
    ),
  );
  const items = answers.flatMap(({ data }) => data.items);
  return { total: items.length, more: answers.some(({ data }) => data.more), items };
}

// True if the server runs the action without this page. The reason is that there are more items than a piece
// has, or more than the preview can show.
export const runsInBackground = (answer: Answer): boolean => answer.more || answer.items.length > PIECE;

export interface Options {
  reason?: string;
  confirm_overlap?: boolean;
  mode?: 'kill';
}

export interface Progress {
  // Called after each piece. `asked` is the number of items requested so far. If the function returns false,
  // no further piece is requested.
  go: (asked: number) => boolean;
  explain: (error: unknown) => string;
  notTried: (stopped: boolean) => string;
  // Waits before a request is repeated for the `n`th time.
  pause?: (n: number) => Promise<void>;
}

const pauseFor = (n: number) => new Promise<void>((resolve) => setTimeout(resolve, AGAIN_MS * 2 ** (n - 1)));

// True if it is unknown whether the action was done. There was no response, an incomplete one, or one
// from a proxy.
export const isUnsure = (error: unknown) =>
  !(error instanceof ApiError) ||
  error.status < 400 ||
  [502, 504].includes(error.status) ||
  ['outcome_unknown', 'request_in_flight'].includes(error.code);

// Repeats a request until its outcome is known, at most TRIES times. All requests have the same key, so the
// server executes only one of them.
async function requestUntilKnown<T>(
  body: object,
  idempotencyKey: string,
  pause: (n: number) => Promise<void>,
): Promise<T> {
  for (let tries = 1; ; ++tries) {
    try {
      return (await call<T>('POST', 'bulk', { body, idempotencyKey })).data;
    } catch (error) {
      if (!isUnsure(error) || tries === TRIES) throw error;
      await pause(tries);
    }
  }
}

export async function act(
  kind: Kind,
  action: Action,
  ids: readonly string[],
  options: Options,
  progress: Progress,
): Promise<Item[]> {
  const items: Item[] = [];
  const fail = (some: readonly string[], code: string, detail: string, result = 'error') =>
    items.push(...some.map((id) => ({ id, result, run_id: null, error: { code, detail } })));
  let asked = 0;
  for (const piece of piecesOf(ids, PIECE)) {
    asked += piece.length;
    let broken = false;
    try {
      items.push(
        ...(
          await requestUntilKnown<Answer>(
            { action, kind, ids: piece, ...options },
            newKey(),
            progress.pause ?? pauseFor,
          )
        ).items,
      );
    } catch (error) {
      fail(
        piece,
        error instanceof ApiError ? error.code : 'unknown',
        progress.explain(error),
        isUnsure(error) ? UNSURE : 'error',
      );
      broken = true;
    }
    if (progress.go(asked) && !broken) continue;
    fail(ids.slice(asked), 'not_tried', progress.notTried(!broken));
    break;
  }
  return items;
}

// Hands the action over to the server. If the preview showed all items, the server acts on exactly these
// items. Otherwise it acts on the items that match the filter when it starts the action.
export async function hand(
  kind: Kind,
  action: Action,
  target: Target,
  seen: Answer,
  options: Options,
  key: string,
  pause = pauseFor,
): Promise<BulkAction> {
  const meant = seen.more ? target : { ids: seen.items.map((item) => item.id) };
  return requestUntilKnown<BulkAction>({ action, kind, ...meant, ...options, background: true }, key, pause);
}

// One action on many jobs, runs or dead letters: what it means, and asking for it piece by piece, so that a piece that fails
// leaves the others done and told, and the progress is known.
import { ApiError, call } from '../../api/client';
import { RUN_STATES, type BulkAction, type Problem } from '../../api/types';
import { newKey } from '../../api/keys';
import type { Selection } from '../lists/selection';

export type ListKind = 'job' | 'run';
export type Kind = ListKind | 'dead_letter';
export type JobAction = 'run' | 'pause' | 'resume' | 'cancel'; // cancel: every open run of it
export type RunAction = 'cancel' | 'retry';
export type DeadLetterAction = 'retry' | 'discard';
export type Action = JobAction | RunAction | DeadLetterAction;
export const ACTIONS: Record<Kind, readonly Action[]> = {
  job: ['run', 'pause', 'resume', 'cancel'],
  run: ['cancel', 'retry'],
  dead_letter: ['retry', 'discard'],
};

// The names of the list's parameters.
export type Filter = Record<string, string | string[]>;
export type Target = { ids: string[] } | { filter: Filter };
export type Search = Record<string, string | string[] | undefined>;
export interface Row {
  id: string;
  name: string;
  state: string;
}

// `result` is the server's, or UNSURE: it may have been done, nobody said.
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

const PIECE = 50; // answered well before a request is given up; more than that goes on without this page
const IDS_MAX = 1000; // of a request
const TRIES = 4; // of a piece, all with one key
const AGAIN_MS = 1000;

export const UNSURE = 'unsure';

// The states in which an action on a run does something.
const FITS: Record<RunAction, ReadonlySet<string>> = {
  cancel: new Set(['PENDING', 'RUNNING', 'HELD']),
  retry: new Set(['FAILED', 'TIMED_OUT', 'LOST', 'CANCELLED', 'HELD']),
};
const fits = (kind: Kind, action: Action, state: string) =>
  kind === 'run' ? FITS[action as RunAction].has(state) : true;

// What the list shows, as a filter: the API wants one condition at least, and of runs the states.
export function filterOf(kind: ListKind, search: Search): Filter {
  const given = Object.entries(search).filter(
    (one): one is [string, string | string[]] => one[1] !== undefined && one[1].length > 0,
  );
  return { ...(kind === 'job' ? { q: '' } : { state: [...RUN_STATES] }), ...Object.fromEntries(given) };
}

// Whom the action means; null: none of them. Rows that are not loaded are left to the server.
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
    return state.length > 0 ? { filter: { ...filter, state } } : null;
  }
  const states = new Map(rows.map((row) => [row.id, row.state]));
  const ids = [...selection.ids].filter((id) => !states.has(id) || fits(kind, action, states.get(id)!));
  return ids.length > 0 ? { ids } : null;
}

const piecesOf = (ids: readonly string[], size: number): string[][] =>
  Array.from({ length: Math.ceil(ids.length / size) }, (_, i) => ids.slice(i * size, (i + 1) * size));

// Who would be acted on, and who refuses.
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

// Whether the server goes on with it by itself: what nobody has to wait for, and what is more than a preview shows.
export const goesOnAlone = (answer: Answer): boolean => answer.more || answer.items.length > PIECE;

export interface Options {
  reason?: string;
  confirm_overlap?: boolean;
  mode?: 'kill';
}

export interface Progress {
  // After each piece, with how many have been asked; false ends it there.
  go: (asked: number) => boolean;
  explain: (error: unknown) => string;
  notTried: (stopped: boolean) => string;
  // Before asking again for the `n`th time.
  pause?: (n: number) => Promise<void>;
}

const pauseFor = (n: number) => new Promise<void>((resolve) => setTimeout(resolve, AGAIN_MS * 2 ** (n - 1)));

// No answer, half of one, or that of a proxy that had none, says nothing about what was done.
export const isUnsure = (error: unknown) =>
  !(error instanceof ApiError) ||
  error.status < 400 ||
  [502, 504].includes(error.status) ||
  ['outcome_unknown', 'request_in_flight'].includes(error.code);

// With the same key it is done once, however often it is asked for.
async function askSurely<T>(
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
          await askSurely<Answer>(
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

// Hands it to the server, which goes on with it. Who looked at all of it means those; of more, whatever matches now.
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
  return askSurely<BulkAction>({ action, kind, ...meant, ...options, background: true }, key, pause);
}

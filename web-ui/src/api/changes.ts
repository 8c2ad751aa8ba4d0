// Refreshes lists when the server announces changes (GET /api/changes). A request in progress is never
// aborted. Otherwise, on a busy cluster, the next change would abort each request before its response.
import type { Query, QueryClient } from '@tanstack/react-query';
import { ApiError } from './client';
import { listen, type ServerEvent } from './events';

const AGAIN_MS = 2000;
const AGAIN_LONGEST_MS = 30_000;
const APART_MS = 2000; // least time between two requests for the same list, however often it changes
// Topics for which every change is announced. Lists of other topics show values that change without an
// announcement, such as the load of a host, the next fire of a job and the last use of a token.
const TOLD = new Set(['runs', 'users', 'secrets', 'audit', 'bulk']);

export interface Change {
  topic: string;
  id?: string;
}

let standing = false;
// True while the stream is connected, if the server announces all changes of the list at `path`. Such a list
// is polled less often.
export const isTold = (path: string): boolean => standing && TOLD.has(path.split('/')[0] ?? '');

// True for a list of run_parts.ts.
const isPaced = (key: readonly unknown[]): boolean => key[2] === 'shards' || key[2] === 'nodes';

// True if the query with `key` is read anew when something of `topic` changes.
export function concerns(key: readonly unknown[], topic: string): boolean {
  if (isPaced(key)) return false;
  const path = String(key[0]);
  const root = path.split('/')[0];
  if (root === topic || (topic === 'config' && root === 'system')) return true;
  if (topic !== 'runs') return false;
  return ['gaps', 'dead-letters', 'failing-jobs'].includes(root ?? '') || path.endsWith('/history');
}

// True if the list is a search. A search costs more than a page. So searches are polled seldom, and not
// repeated when something changes.
export const isSearch = (data: unknown): boolean =>
  (data as { pages?: { searched_to?: string; searched?: string }[] } | undefined)?.pages?.some(
    (page) => page.searched_to ?? page.searched,
  ) ?? false;

// True if the server rejected the request as invalid, for example because of a malformed ID. No change can
// make such a request valid.
const isInvalid = ({ state }: Query): boolean =>
  state.error instanceof ApiError && state.error.status === 400;

export class ChangeStream {
  private abort: AbortController | null = null;
  private lastId = '';
  private topics = new Set<string>();
  private late = new Set<string>(); // hashes of the queries that must be read again
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly client: QueryClient) {}

  start(): void {
    if (this.abort) return;
    this.abort = new AbortController();
    void this.run(this.abort.signal);
  }

  stop(): void {
    this.abort?.abort();
    this.abort = null;
    standing = false;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.topics.clear();
    this.late.clear();
  }

  private async run(stopped: AbortSignal): Promise<void> {
    let pause = AGAIN_MS;
    while (!stopped.aborted) {
      try {
        await listen('changes', { lastId: this.lastId }, stopped, {
          opened: () => {
            pause = AGAIN_MS;
            standing = !stopped.aborted;
          },
          take: (events) => this.take(events),
        });
      } catch {
        // The error is not shown here. Pages make their own requests and show what is wrong.
        pause = Math.min(pause * 2, AGAIN_LONGEST_MS);
      }
      if (stopped.aborted) return;
      standing = false;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  take(events: readonly ServerEvent[]): void {
    for (const event of events) {
      if (event.id) this.lastId = event.id;
      if (event.name === 'resync') {
        this.expire(() => true);
      } else if (event.name === 'change') {
        for (const change of (JSON.parse(event.data) as { changes: Change[] }).changes)
          this.topics.add(change.topic);
      }
    }
    if (this.timer === undefined) this.readAnew();
  }

  private expire(shows: (query: Query) => boolean): void {
    for (const query of this.client
      .getQueryCache()
      .findAll({ predicate: (one) => !isSearch(one.state.data) && !isInvalid(one) && shows(one) })) {
      this.late.add(query.queryHash);
    }
  }

  // Requests the affected lists at once. Changes that follow within APART_MS are handled together at the end
  // of this time. If a request for a list is already in progress, its response may have data from before the
  // change. So this list is requested again in the next round.
  private readAnew(): void {
    this.timer = undefined;
    const topics = [...this.topics];
    this.topics.clear();
    if (topics.length > 0) this.expire(({ queryKey }) => topics.some((topic) => concerns(queryKey, topic)));
    if (this.late.size === 0) return;
    const now = this.client
      .getQueryCache()
      .getAll()
      .filter((query) => this.late.has(query.queryHash));
    const free = new Set(now.filter((query) => query.state.fetchStatus !== 'fetching'));
    this.late = new Set(now.filter((query) => !free.has(query)).map((query) => query.queryHash));
    void this.client.invalidateQueries({ predicate: (query) => free.has(query) }, { cancelRefetch: false });
    this.timer = setTimeout(() => this.readAnew(), APART_MS);
  }
}

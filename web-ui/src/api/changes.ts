// What has changed, told by the server (GET /api/changes): the lists that show it are read anew.
//
// A browser has six connections to a server, over all its tabs: only a tab that is seen has a stream.
import type { QueryClient } from '@tanstack/react-query';
import { listen, type ServerEvent } from './events';

const AGAIN_MS = 2000;
const AGAIN_LONGEST_MS = 30_000;
const APART_MS = 2000; // between two readings of the same list, however much changes
// Lists whose every change is told; the others show what changes all the time, such as the load of a host.
const TOLD = new Set(['jobs', 'runs', 'users', 'tokens', 'secrets', 'audit']);

export interface Change { topic: string; id?: string }

let standing = false;
// Whether a change of what `path` lists will be told, so that it need not be asked for often.
export const isTold = (path: string): boolean => standing && TOLD.has(path.split('/')[0] ?? '');

// Whether what is kept under `key` may show something of `topic`.
export function concerns(key: readonly unknown[], topic: string): boolean {
  const path = String(key[0]);
  const root = path.split('/')[0];
  if (root === topic || (topic === 'config' && root === 'system')) return true;
  return topic === 'runs' && (root === 'gaps' || root === 'dead-letters' || path.endsWith('/history'));
}

export class ChangeStream {
  private abort: AbortController | null = null;
  private lastId = '';
  private waiting = new Set<string>();
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
    this.waiting.clear();
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
        // The pages say what is wrong with the server: they ask it by themselves.
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
        this.waiting.clear();
        void this.client.invalidateQueries();
      } else if (event.name === 'change') {
        for (const change of (JSON.parse(event.data) as { changes: Change[] }).changes) this.waiting.add(change.topic);
      }
    }
    if (this.timer === undefined) this.readAnew();
  }

  // At once, and what comes soon after together.
  private readAnew(): void {
    this.timer = undefined;
    if (this.waiting.size === 0) return;
    const topics = [...this.waiting];
    this.waiting.clear();
    void this.client.invalidateQueries({ predicate: ({ queryKey }) => topics.some((topic) => concerns(queryKey, topic)) });
    this.timer = setTimeout(() => this.readAnew(), APART_MS);
  }
}

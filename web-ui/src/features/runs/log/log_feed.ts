// Follows the log of an attempt until the end of the log. If the connection breaks, connects again.
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { ApiError } from '../../../api/client';
import { listen } from '../../../api/events';
import { whileSeen } from '../../../lib/visible_tab';
import { LogText, type LogEnd, type LogEntry, type LogLine } from './log_lines';

const SHOW_EVERY_MS = 100; // least time between two renderings, however fast lines arrive
const AGAIN_MS = 1000;
const AGAIN_LONGEST_MS = 10_000;

export interface LogSnapshot {
  lines: readonly LogLine[]; // one array that grows; after a change there is a new LogSnapshot
  end: LogEnd | null;
  error: ApiError | null; // an error that would occur again if the request were repeated
  waiting: boolean; // the server does not answer
}

export class LogFeed {
  private readonly text = new LogText();
  private readonly listeners = new Set<() => void>();
  private sight: LogSnapshot = { lines: this.text.lines, end: null, error: null, waiting: false };
  private timer: ReturnType<typeof setTimeout> | undefined;
  private abort: AbortController | null = null;

  constructor(
    private readonly runId: string,
    private readonly attempt: number,
  ) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  readonly look = (): LogSnapshot => this.sight;

  // Starts following, or continues after stop(). Does nothing if it is following already.
  start(): void {
    if (this.abort) return;
    this.abort = new AbortController();
    void this.run(this.abort.signal);
  }

  stop(): void {
    this.abort?.abort();
    this.abort = null;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private show(change: Partial<LogSnapshot> = {}): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.sight = { ...this.sight, ...change };
    this.listeners.forEach((listener) => listener());
  }

  private async run(signal: AbortSignal): Promise<void> {
    let pause = AGAIN_MS;
    while (!signal.aborted && this.sight.end === null && this.sight.error === null) {
      try {
        await this.follow(signal);
        pause = AGAIN_MS;
        if (this.sight.end) return;
      } catch (error) {
        if (signal.aborted) return;
        // A refusal is final. If the server is busy or unavailable, the request is repeated.
        const refused = error instanceof ApiError && error.status >= 400 && error.status < 500;
        this.show(refused ? { error } : { waiting: true });
        pause = Math.min(pause * 2, AGAIN_LONGEST_MS);
      }
      // Waits even if the stream has ended regularly, because a server that is stopping ends each
      // stream at once.
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  private async follow(signal: AbortSignal): Promise<void> {
    const lastId = this.text.lastSeq > 0 ? String(this.text.lastSeq) : '';
    await listen(
      `runs/${encodeURIComponent(this.runId)}/logs/stream`,
      { query: { attempt: this.attempt }, lastId },
      signal,
      {
        opened: () => this.show({ waiting: false }),
        take: (events) => {
          for (const event of events) {
            if (event.name === 'end') this.show({ end: JSON.parse(event.data) as LogEnd });
            else this.text.add(JSON.parse(event.data) as LogEntry);
          }
          if (events.length > 0) this.timer ??= setTimeout(() => this.show(), SHOW_EVERY_MS);
        },
      },
    );
  }
}

// Returns the log. `on`: follows the log. Otherwise the result is what has been read so far.
export function useLog(runId: string, attempt: number, on: boolean): LogSnapshot {
  const feed = useMemo(() => new LogFeed(runId, attempt), [runId, attempt]);
  useEffect(() => (on ? whileSeen(feed) : undefined), [feed, on]);
  return useSyncExternalStore(feed.subscribe, feed.look);
}

// Follows the log of an attempt until its end, across connections that are cut.
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { ApiError } from '../../../api/client';
import { listen } from '../../../api/events';
import { whileSeen } from '../../../lib/visible_tab';
import { LogText, type LogEnd, type LogEntry, type LogLine } from './log_lines';

const SHOW_EVERY_MS = 100; // however fast it comes
const AGAIN_MS = 1000;
const AGAIN_LONGEST_MS = 10_000;

export interface LogSight {
  lines: readonly LogLine[]; // one array that grows: a new sight says that it has changed
  end: LogEnd | null;
  error: ApiError | null; // that asking again does not mend
  waiting: boolean; // for a server that does not answer
}

export class LogFeed {
  private readonly text = new LogText();
  private readonly listeners = new Set<() => void>();
  private sight: LogSight = { lines: this.text.lines, end: null, error: null, waiting: false };
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
  readonly look = (): LogSight => this.sight;

  // Goes on where it stopped; does nothing while it goes on.
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

  private show(change: Partial<LogSight> = {}): void {
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
        // What was refused stays refused; a busy or absent server may come back.
        const refused = error instanceof ApiError && error.status >= 400 && error.status < 500;
        this.show(refused ? { error } : { waiting: true });
        pause = Math.min(pause * 2, AGAIN_LONGEST_MS);
      }
      // Also after a stream that ended of itself: a server that stops answers, and ends, at once.
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

// `on`: whether it is read; what has been read stays.
export function useLog(runId: string, attempt: number, on: boolean): LogSight {
  const feed = useMemo(() => new LogFeed(runId, attempt), [runId, attempt]);
  useEffect(() => (on ? whileSeen(feed) : undefined), [feed, on]);
  return useSyncExternalStore(feed.subscribe, feed.look);
}

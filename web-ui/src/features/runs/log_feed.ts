// Follows the log of an attempt until its end, across connections that are cut.
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { ApiError, send } from '../../api/client';
import { readEvents } from '../../api/events';
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

  constructor(private readonly runId: string, private readonly attempt: number) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  readonly look = (): LogSight => this.sight;

  // Goes on where it stopped.
  start(): void {
    this.abort = new AbortController();
    void this.run(this.abort.signal);
  }

  stop(): void {
    this.abort?.abort();
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
    const headers: Record<string, string> = { Accept: 'text/event-stream' };
    if (this.text.lastSeq > 0) headers['Last-Event-ID'] = String(this.text.lastSeq);
    const response = await send('GET', `runs/${encodeURIComponent(this.runId)}/logs/stream`, {
      query: { attempt: this.attempt }, headers, signal,
    });
    this.show({ waiting: false });
    await readEvents(response, (events) => {
      for (const event of events) {
        if (event.name === 'end') this.show({ end: JSON.parse(event.data) as LogEnd });
        else this.text.add(JSON.parse(event.data) as LogEntry);
      }
      if (events.length > 0) this.timer ??= setTimeout(() => this.show(), SHOW_EVERY_MS);
    });
  }
}

export function useLog(runId: string, attempt: number): LogSight {
  const feed = useMemo(() => new LogFeed(runId, attempt), [runId, attempt]);
  useEffect(() => {
    feed.start();
    return () => feed.stop();
  }, [feed]);
  return useSyncExternalStore(feed.subscribe, feed.look);
}

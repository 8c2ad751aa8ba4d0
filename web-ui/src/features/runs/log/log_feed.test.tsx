import { act, render, renderHook, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LogFeed, useLog } from './log_feed';
import { Output } from './output';
import { setPreferences } from '../../../lib/preferences';

interface Connection {
  from: string | undefined;
  signal: AbortSignal;
  say: (text: string) => void;
}
let connections: Connection[] = [];
let hidden = false;

beforeEach(() => {
  vi.useFakeTimers();
  connections = [];
  hidden = false;
  vi.spyOn(document, 'hidden', 'get').mockImplementation(() => hidden);
  vi.stubGlobal(
    'fetch',
    (_url: string, { headers, signal }: { headers: Record<string, string>; signal: AbortSignal }) => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          connections.push({
            from: headers['Last-Event-ID'],
            signal,
            say: (text) => controller.enqueue(new TextEncoder().encode(text)),
          });
          signal.addEventListener('abort', () => controller.error(new DOMException('', 'AbortError')));
        },
      });
      return Promise.resolve(new Response(body));
    },
  );
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const entry = (seq: number) =>
  `id: ${seq}\ndata: ${JSON.stringify({ seq, t: null, stream: 'stdout', line: 'line ' + seq })}\n\n`;
const open = () => connections.filter(({ signal }) => !signal.aborted).length;
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
const see = (seen: boolean) =>
  act(() => {
    hidden = !seen;
    document.dispatchEvent(new Event('visibilitychange'));
  });

it('a hidden tab closes its log stream and resumes at the last line when seen', async () => {
  const { result, unmount } = renderHook(() => useLog('run', 1, true));
  await pass(0);
  connections[0]!.say(entry(1) + entry(2));
  await pass(200);
  expect(result.current.lines).toHaveLength(2);
  see(false);
  await pass(60_000);
  expect([open(), connections.length]).toEqual([0, 1]);
  see(true);
  see(true);
  await pass(0);
  expect(connections.map(({ from }) => from)).toEqual([undefined, '2']);
  connections[1]!.say(entry(2) + entry(3));
  await pass(200);
  expect(result.current.lines).toHaveLength(3);
  unmount();
  see(true);
  await pass(60_000);
  expect([open(), connections.length]).toEqual([0, 2]);
});

it('a paused tab closes its log stream, keeps its lines and resumes there', async () => {
  const { result, rerender } = renderHook(({ on }) => useLog('run', 1, on), { initialProps: { on: true } });
  await pass(0);
  connections[0]!.say(entry(1));
  await pass(200);
  rerender({ on: false });
  await pass(60_000);
  expect([open(), connections.length, result.current.lines.length]).toEqual([0, 1, 1]);
  rerender({ on: true });
  await pass(0);
  expect(connections.map(({ from }) => from)).toEqual([undefined, '1']);
});

it('a tab hidden from the beginning opens no log stream', async () => {
  hidden = true;
  renderHook(() => useLog('run', 1, true));
  await pass(60_000);
  expect(connections).toHaveLength(0);
});

it('the log feed connects once, and again when a connection falls silent', async () => {
  const feed = new LogFeed('run', 1);
  feed.start();
  feed.start();
  await pass(39_000);
  expect(connections).toHaveLength(1);
  await pass(1000);
  expect(feed.look().waiting).toBe(true);
  await pass(2000);
  expect([open(), connections.length, feed.look().waiting]).toEqual([1, 2, false]);
  feed.stop();
});

// The page may render at any time. This may be after lines have arrived and before they are shown.
it.each([false, true])(
  'lines that arrive before a render do not break the output (wrapped: %s)',
  async (wrap) => {
    vi.stubGlobal(
      'ResizeObserver',
      class {
        observe() {}
        disconnect() {}
      },
    );
    setPreferences({ wrap, live: true });
    const nothing = () => {};
    const page = (search: string) => (
      <Output
        runId="run"
        attempt={1}
        open
        search={search}
        level={undefined}
        onSearch={nothing}
        onLevel={nothing}
        onLink={nothing}
      />
    );
    const { rerender } = render(page(''));
    await pass(0);
    connections[0]!.say(entry(1) + entry(2));
    await pass(10);
    rerender(page('line'));
    await pass(200);
    expect(screen.getAllByText(/^line \d$/)).toHaveLength(2);
    setPreferences({ wrap: false, live: false });
  },
);

import { InfiniteQueryObserver, QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ChangeStream, concerns, isTold } from './changes';

const change = (...topics: string[]) => ({
  name: 'change',
  id: 'life-1',
  data: JSON.stringify({ changes: topics.map((topic) => ({ topic })) }),
});

describe('topics of changes', () => {
  it('a topic concerns its lists and what is below them', () => {
    expect(concerns(['jobs', {}], 'jobs')).toBe(true);
    expect(concerns(['jobs/nightly/versions', {}], 'jobs')).toBe(true);
    expect(concerns(['runs', {}], 'jobs')).toBe(false);
    expect(concerns(['runs', {}], 'runs')).toBe(true);
    expect(concerns(['gaps', {}], 'runs')).toBe(true);
    expect(concerns(['system', 'config'], 'config')).toBe(true);
    expect(concerns(['jobsomething', {}], 'jobs')).toBe(false);
    expect(concerns(['deliveries', {}], 'deliveries')).toBe(true);
    expect(concerns(['bulk/blk-1/items', {}], 'bulk')).toBe(true);
    expect(concerns(['name', 'job', 'nightly'], 'jobs')).toBe(false);
  });

  it('lists with a pace of their own are not read at each change of any run', () => {
    expect(concerns(['runs', 'r1'], 'runs')).toBe(true);
    expect(concerns(['runs', 'r1', 'shards', 1, 'RUNNING'], 'runs')).toBe(false);
    expect(concerns(['runs', 'r1', 'nodes', 1, 'RUNNING'], 'runs')).toBe(false);
  });
});

describe('ChangeStream', () => {
  const ends: (() => void)[] = [];
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    ends.splice(0).forEach((end) => end());
    vi.useRealTimers();
  });

  const later = <T>(ms: number, value: T) =>
    new Promise<T>((resolve) => setTimeout(() => resolve(value), ms));

  // Shows lists. Each list takes the given time to read. `begun` and `read` receive the path of a list when
  // its request begins and ends.
  async function made(lists: Record<string, number>) {
    const client = new QueryClient();
    const begun: string[] = [];
    const read: string[] = [];
    for (const [path, ms] of Object.entries(lists)) {
      const queryFn = async ({ signal }: { signal: AbortSignal }) => {
        begun.push(path);
        await later(ms, null);
        if (!signal.aborted) read.push(path);
        return path;
      };
      ends.push(new QueryObserver(client, { queryKey: [path, {}], queryFn }).subscribe(() => {}));
    }
    await vi.advanceTimersByTimeAsync(Math.max(...Object.values(lists)));
    begun.length = read.length = 0;
    const stream = new ChangeStream(client);
    ends.push(() => {
      stream.stop();
      client.clear();
    });
    return { client, stream, begun, read };
  }

  it('the stream reads a changed list at once, and later changes together', async () => {
    const { stream, read } = await made({ jobs: 1, runs: 1, users: 1 });
    stream.take([change('jobs')]);
    await vi.advanceTimersByTimeAsync(1);
    expect(read).toEqual(['jobs']);
    stream.take([change('runs')]);
    stream.take([change('runs', 'users')]);
    await vi.advanceTimersByTimeAsync(1997);
    expect(read).toEqual(['jobs']);
    await vi.advanceTimersByTimeAsync(3);
    expect(read).toEqual(['jobs', 'runs', 'users']);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(read).toHaveLength(3);
    stream.take([change('jobs')]);
    await vi.advanceTimersByTimeAsync(1);
    expect(read).toEqual(['jobs', 'runs', 'users', 'jobs']);
  });

  it('the stream lets a slow list be read to its end and reads it once more for later changes', async () => {
    const { stream, begun, read } = await made({ runs: 7000, gaps: 10 });
    for (let second = 0; second < 20; ++second) {
      stream.take([change('runs')]);
      await vi.advanceTimersByTimeAsync(1000);
    }
    // The slow list is requested at 0, 8 and 16 s. (8 s is the first round after the response at 7 s.) A
    // quick list with the same topic does not wait for the slow list.
    expect(begun.filter((path) => path === 'runs')).toHaveLength(3);
    expect(read.filter((path) => path === 'runs')).toHaveLength(2);
    expect(read.filter((path) => path === 'gaps')).toHaveLength(10);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(begun.filter((path) => path === 'runs')).toHaveLength(4);
    expect(read.filter((path) => path === 'runs')).toHaveLength(4);
  });

  it('a change does not drop a page that somebody asked for', async () => {
    const { client, stream } = await made({ jobs: 1 });
    const list = new InfiniteQueryObserver(client, {
      queryKey: ['runs', {}],
      initialPageParam: 0,
      getNextPageParam: (page: number) => page + 1,
      queryFn: ({ pageParam }) => later(3000, pageParam),
    });
    ends.push(list.subscribe(() => {}));
    await vi.advanceTimersByTimeAsync(3000);
    void list.fetchNextPage();
    await vi.advanceTimersByTimeAsync(500);
    stream.take([change('runs')]);
    stream.take([{ name: 'resync', id: 'other-0', data: '{}' }]);
    await vi.advanceTimersByTimeAsync(2600);
    expect(list.getCurrentResult().data?.pages).toEqual([0, 1]);
    await vi.advanceTimersByTimeAsync(2000);
    expect(list.getCurrentResult().isRefetching).toBe(true);
  });

  it('a change does not repeat a search', async () => {
    const { client, stream } = await made({ jobs: 1 });
    const queryFn = vi.fn(() =>
      later(1, { items: [], next_page_token: 'more', searched_to: '2026-01-01T00:00:00Z' }),
    );
    ends.push(
      new InfiniteQueryObserver(client, {
        queryKey: ['runs', { executor_id: 'a' }],
        initialPageParam: 0,
        getNextPageParam: () => null,
        queryFn,
      }).subscribe(() => {}),
    );
    await vi.advanceTimersByTimeAsync(1);
    stream.take([change('runs'), { name: 'resync', id: 'other-0', data: '{}' }]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(queryFn).toHaveBeenCalledTimes(1);
  });

  it('a resync reads every list again', async () => {
    const { stream, read } = await made({ jobs: 1, runs: 5000 });
    stream.take([{ name: 'ready', id: 'life-0', data: '{}' }]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(read).toEqual([]);
    stream.take([{ name: 'resync', id: 'other-0', data: '{}' }]);
    await vi.advanceTimersByTimeAsync(1);
    stream.take([{ name: 'resync', id: 'third-0', data: '{}' }]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(read).toEqual(['jobs', 'jobs', 'runs', 'runs']);
  });

  it('a stopped stream forgets the changes that wait', async () => {
    const { stream, read } = await made({ jobs: 1, runs: 1 });
    stream.take([change('jobs')]);
    stream.take([change('runs')]);
    stream.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(read).toEqual(['jobs']);
  });

  it('a silent connection is replaced, and the next one resumes at the last event', async () => {
    const asked: (string | undefined)[] = [];
    const signals: AbortSignal[] = [];
    let say: (text: string) => void = () => {};
    vi.stubGlobal('fetch', (_url: string, init: { headers: Record<string, string>; signal: AbortSignal }) => {
      asked.push(init.headers['Last-Event-ID']);
      signals.push(init.signal);
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          say = (text) => controller.enqueue(new TextEncoder().encode(text));
          init.signal.addEventListener('abort', () => controller.error(new DOMException('', 'AbortError')));
        },
      });
      return Promise.resolve(new Response(body));
    });
    const { stream } = await made({ jobs: 1 });
    stream.start();
    await vi.advanceTimersByTimeAsync(0);
    expect([isTold('runs'), isTold('jobs'), isTold('tokens')]).toEqual([true, false, false]);
    say('id: life-7\nevent: ready\ndata: {}\n\n');
    for (let i = 0; i < 6; ++i) {
      await vi.advanceTimersByTimeAsync(15_000);
      say(': still here\n\n');
    }
    await vi.advanceTimersByTimeAsync(39_900);
    expect([asked.length, signals[0]!.aborted]).toEqual([1, false]);
    await vi.advanceTimersByTimeAsync(200);
    expect([signals[0]!.aborted, isTold('runs')]).toEqual([true, false]);
    await vi.advanceTimersByTimeAsync(4000);
    expect(asked).toEqual([undefined, 'life-7']);
    expect(isTold('runs')).toBe(true);
    stream.stop();
    await vi.advanceTimersByTimeAsync(120_000);
    expect([asked.length, signals[1]!.aborted, isTold('runs')]).toEqual([2, true, false]);
    vi.unstubAllGlobals();
  });
});

import { describe, expect, it } from 'vitest';
import { answerBulk, many } from '../../../test_support/bulk';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';
import { everything, only } from './selection';
import { act, filterOf, preview, targetOf } from './bulk';

const progress = {
  go: () => true,
  explain: String,
  notTried: (stopped: boolean) => (stopped ? 'stopped' : 'not tried'),
};

describe('the target of an action', () => {
  const runs = [
    { id: '1', name: 'one', state: 'RUNNING' },
    { id: '2', name: 'two', state: 'FAILED' },
  ];
  const both = only(['1', '2']);
  it('the target of a selection leaves out runs whose state does not fit', () => {
    expect(targetOf('run', 'cancel', both, runs, {})).toEqual({ ids: ['1'] });
    expect(targetOf('run', 'retry', both, runs, {})).toEqual({ ids: ['2'] });
    expect(targetOf('run', 'retry', only(['1']), runs, {})).toBeNull();
    expect(targetOf('run', 'retry', only(['not-loaded']), runs, {})).toEqual({ ids: ['not-loaded'] });
    expect(targetOf('job', 'pause', only(['x']), [{ id: 'x', name: 'x', state: 'PAUSED' }], {})).toEqual({
      ids: ['x'],
    });
  });
  it('the target of a release is what waits for other jobs', () => {
    const pending = [{ id: '3', name: 'three', state: 'PENDING' }];
    expect(targetOf('run', 'release', only(['3']), pending, {})).toEqual({ ids: ['3'] });
    expect(targetOf('run', 'release', both, runs, {})).toBeNull();
    expect(targetOf('run', 'release', everything([], 9, false), [], { job_id: 'x' })).toEqual({
      filter: { job_id: 'x', waiting: 'upstream_run', state: ['PENDING'] },
    });
    expect(targetOf('run', 'release', everything([], 9, false), [], { state: ['FAILED'] })).toBeNull();
  });
  it('the target of “select all” is the filter with the states that fit', () => {
    const all = everything([], 9, false);
    expect(targetOf('job', 'pause', all, [], { status: 'ENABLED' })).toEqual({
      filter: { q: '', status: 'ENABLED' },
    });
    expect(targetOf('run', 'retry', all, [], { state: ['FAILED', 'COMPLETED'], job_id: 'x' })).toEqual({
      filter: { state: ['FAILED'], job_id: 'x' },
    });
    expect(targetOf('run', 'retry', all, [], { state: ['COMPLETED'] })).toBeNull();
  });
  it('a filter always has a condition, as the API requires', () => {
    expect(filterOf('job', { q: undefined })).toEqual({ q: '' });
    expect(filterOf('run', { state: [] }).state).toContain('COMPLETED');
  });
});

describe('a bulk action', () => {
  it('a bulk action is sent in pieces and reports its progress', async () => {
    const seen = answerBulk(['job-7']);
    const asked: number[] = [];
    const items = await act(
      'job',
      'pause',
      many(120),
      { reason: 'moving' },
      {
        ...progress,
        go: (n) => {
          asked.push(n);
          return true;
        },
      },
    );
    expect(asked).toEqual([50, 100, 120]);
    expect(seen.map((one) => one.ids!.length)).toEqual([50, 50, 20]);
    expect(seen[0]!.reason).toBe('moving');
    expect(items.filter((item) => item.error).map((item) => item.id)).toEqual(['job-7']);
  });
  it('a failed piece ends a bulk action, and the rest is marked as not tried', async () => {
    let requests = 0;
    server.use(
      http.post(at('bulk'), () =>
        ++requests === 1
          ? HttpResponse.json({
              total: 50,
              more: false,
              items: many(50).map((id) => ({ id, result: 'done', run_id: null, error: null })),
            })
          : problem(503, 'unavailable', 'The store is away.'),
      ),
    );
    const items = await act('job', 'run', many(120), {}, progress);
    expect(requests).toBe(2);
    expect(items.length).toBe(120);
    expect(items.filter((item) => item.error?.code === 'unavailable').length).toBe(50);
    expect(items.filter((item) => item.error?.detail === 'not tried').length).toBe(20);
  });
  it('a piece without a final answer is sent again with the same key and body', async () => {
    const keys: (string | null)[] = [];
    const bodies: string[] = [];
    const pauses: number[] = [];
    const before = [
      HttpResponse.error(),
      problem(504, 'outcome_unknown', 'Look.'),
      problem(409, 'request_in_flight', 'Wait.'),
    ];
    server.use(
      http.post(at('bulk'), async ({ request }) => {
        keys.push(request.headers.get('Idempotency-Key'));
        bodies.push(await request.text());
        const { ids } = JSON.parse(bodies.at(-1)!) as { ids: string[] };
        return (
          before.shift() ??
          HttpResponse.json({
            total: ids.length,
            more: false,
            items: ids.map((id) => ({ id, result: 'done', run_id: null, error: null })),
          })
        );
      }),
    );
    const items = await act(
      'job',
      'run',
      many(60),
      { reason: 'now' },
      { ...progress, pause: async (n) => void pauses.push(n) },
    );
    expect(items.every((item) => item.result === 'done')).toBe(true);
    expect(pauses).toEqual([1, 2, 3]);
    expect([new Set(keys.slice(0, 4)).size, new Set(bodies.slice(0, 4)).size, keys.length]).toEqual([
      1, 1, 5,
    ]);
    expect(keys[4]).not.toBe(keys[0]);
  });
  it.each([
    ['nothing answers', () => HttpResponse.error(), 4, 'unsure'],
    ['half of an answer comes', () => new HttpResponse('{"items": ['), 4, 'unsure'],
    ['it is still on its way', () => problem(409, 'request_in_flight', 'Wait.'), 4, 'unsure'],
    ['it is refused', () => problem(409, 'conflict', 'No.'), 1, 'error'],
    ['the server says that it is away', () => problem(503, 'unavailable', 'Later.'), 1, 'error'],
  ])(
    'a piece without a final answer is unknown, a refused one failed: %s',
    async (_, answer, most, result) => {
      let requests = 0;
      server.use(
        http.post(at('bulk'), () => {
          requests += 1;
          return answer();
        }),
      );
      const items = await act('job', 'run', many(60), {}, { ...progress, pause: async () => {} });
      expect(requests).toBe(most);
      expect(items.filter((item) => item.result === result)).toHaveLength(result === 'error' ? 60 : 50);
      expect(items.filter((item) => item.error?.code === 'not_tried')).toHaveLength(10);
    },
  );
  it('a bulk action stops after the piece in which it is stopped', async () => {
    answerBulk([]);
    const items = await act('job', 'run', many(60), {}, { ...progress, go: () => false });
    expect(items.filter((item) => item.error?.detail === 'stopped').length).toBe(10);
  });
  it('a preview is split into requests of at most 1000 items', async () => {
    const seen = answerBulk([]);
    expect((await preview('job', 'run', { ids: many(1500) })).total).toBe(1500);
    expect(seen.map((one) => one.ids!.length)).toEqual([1000, 500]);
  });
});

import { describe, expect, it, vi } from 'vitest';
import { ApiError, call } from './client';
import { apiUrl } from './url';
import { serverNow } from '../lib/server_clock';
import { signInWithPassword, signInWithToken } from '../auth/sign_in';
import { entered, signOut, start } from '../auth/session';
import { HttpResponse, at, http, problem, server } from '../../test_support/server';

describe('the client', () => {
  it('apiUrl repeats list parameters and leaves out empty ones', () => {
    expect(apiUrl('runs', { state: ['FAILED', 'LOST'], q: '', job_id: undefined, n: 3 })).toBe(
      'http://console.test/api/runs?state=FAILED&state=LOST&n=3',
    );
  });

  it('the client turns a problem into an error with its code, pointers and trace', async () => {
    server.use(
      http.post(at('jobs'), () =>
        problem(400, 'invalid', 'no', {
          errors: [{ pointer: '/name', code: 'missing', detail: 'needed' }],
        }),
      ),
    );
    const error = await call('POST', 'jobs', { body: {} }).catch((one: unknown) => one);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 400,
      code: 'invalid',
      message: 'no',
      traceId: 'abc',
      errors: [{ pointer: '/name' }],
    });
  });

  it('the client names the status as the code of an answer without a problem document', async () => {
    server.use(
      http.get(at('jobs'), () => new HttpResponse('<html>', { status: 502, statusText: 'Bad Gateway' })),
    );
    await expect(call('GET', 'jobs')).rejects.toMatchObject({ code: 'http_502', message: 'Bad Gateway' });
  });

  it('the client reports an unreachable server', async () => {
    server.use(http.get(at('jobs'), () => HttpResponse.error()));
    await expect(call('GET', 'jobs')).rejects.toMatchObject({ status: 0, code: 'unreachable' });
  });

  it.each([
    ['before its answer', () => new Promise<Response>(() => {})],
    [
      'in the middle of it',
      () =>
        Promise.resolve(
          new Response(
            new ReadableStream({ start: (body) => body.enqueue(new TextEncoder().encode('{"a')) }),
          ),
        ),
    ],
  ])('a read ends as unreachable when the host falls silent %s; a write keeps waiting', async (_, silent) => {
    vi.useFakeTimers();
    vi.stubGlobal(
      'fetch',
      (_url: string, { signal }: { signal: AbortSignal }) =>
        new Promise<Response>((resolve, reject) => {
          signal?.addEventListener('abort', () => reject(new DOMException('given up', 'AbortError')));
          void silent().then((answer) =>
            resolve(
              new Response(answer.body!.pipeThrough(new TransformStream(), { signal }), {
                headers: answer.headers,
              }),
            ),
          );
        }),
    );
    try {
      const ended: unknown[] = [];
      const read = call('GET', 'jobs').catch((error: unknown) => ended.push(error));
      void call('POST', 'jobs', { body: {} }).catch((error: unknown) => ended.push(error));
      await vi.advanceTimersByTimeAsync(29_000);
      expect(ended).toEqual([]);
      await vi.advanceTimersByTimeAsync(2000);
      await read;
      expect(ended).toMatchObject([{ status: 0, code: 'unreachable' }]);
      await vi.advanceTimersByTimeAsync(600_000);
      expect(ended).toHaveLength(1);
    } finally {
      vi.unstubAllGlobals();
      vi.useRealTimers();
    }
  });

  it('a read times out even while its token is being renewed', async () => {
    server.use(
      http.get(at('auth/state'), () => HttpResponse.json({ setup_needed: false })),
      http.post(at('auth/logout'), () => new HttpResponse(null, { status: 204 })),
      http.get(at('auth/me'), () =>
        HttpResponse.json({
          kind: 'user',
          user_id: 'user-1',
          name: 'anna',
          display_name: '',
          role: 'user',
          permissions: ['read'],
        }),
      ),
    );
    await start();
    await entered('password', 'old');
    vi.useFakeTimers();
    let answer: (response: Response) => void = () => {};
    vi.stubGlobal('fetch', (url: string) =>
      url.includes('auth/refresh')
        ? new Promise<Response>((resolve) => {
            answer = resolve;
          })
        : Promise.resolve(new Response(null, { status: 401 })),
    );
    try {
      const ended = call('GET', 'jobs').catch((error: unknown) => error);
      await vi.advanceTimersByTimeAsync(31_000);
      expect(await Promise.race([ended, Promise.resolve('waits')])).toMatchObject({
        status: 0,
        code: 'unreachable',
      });
    } finally {
      answer(new Response(null, { status: 503 }));
      vi.unstubAllGlobals();
      vi.useRealTimers();
      await signOut();
    }
  });

  it('the client resends a request refused late, without another renewal', async () => {
    let renewals = 0;
    let release = () => {};
    const late = new Promise<void>((resolve) => {
      release = resolve;
    });
    const answer = async (request: Request, wait: Promise<void>) => {
      if (request.headers.get('Authorization') !== 'Bearer old') return HttpResponse.json({ items: [] });
      await wait;
      return problem(401, 'unauthenticated', 'over');
    };
    server.use(
      http.get(at('auth/state'), () => HttpResponse.json({ setup_needed: false })),
      http.get(at('auth/me'), () =>
        HttpResponse.json({
          kind: 'user',
          user_id: 'user-1',
          name: 'anna',
          display_name: '',
          role: 'user',
          permissions: ['read'],
        }),
      ),
      http.post(at('auth/logout'), () => new HttpResponse(null, { status: 204 })),
      http.post(at('auth/refresh'), () => {
        renewals += 1;
        return HttpResponse.json({ access_token: 'new' });
      }),
      http.get(at('jobs'), ({ request }) => answer(request, Promise.resolve())),
      http.get(at('runs'), ({ request }) => answer(request, late)),
    );
    await start();
    await entered('password', 'old');
    const second = call('GET', 'runs');
    await call('GET', 'jobs');
    release();
    await second;
    expect(renewals).toBe(1);
    await signOut();
  });

  it('the client rejects foreign pages and reports a cut answer as unknown', async () => {
    server.use(http.get(at('jobs'), () => new HttpResponse('<html>', { status: 200 })));
    await expect(call('GET', 'jobs')).rejects.toMatchObject({ code: 'http_200' });
    // It is unknown whether the job was run, so the second request has the same key.
    server.use(http.post(at('jobs/a/execute'), () => new HttpResponse('{"run_id": "0', { status: 202 })));
    await expect(call('POST', 'jobs/a/execute', { body: {} })).rejects.toMatchObject({
      code: 'outcome_unknown',
      status: 202,
    });
  });

  it('serverNow follows the Date header of the server', async () => {
    server.use(
      http.get(at('jobs'), () =>
        HttpResponse.json({}, { headers: { Date: new Date(Date.now() + 3_600_000).toUTCString() } }),
      ),
    );
    await call('GET', 'jobs');
    expect(serverNow() - Date.now()).toBeGreaterThan(3_590_000);
    server.use(
      http.get(at('jobs'), () => HttpResponse.json({}, { headers: { Date: new Date().toUTCString() } })),
    );
    await call('GET', 'jobs');
    expect(Math.abs(serverNow() - Date.now())).toBeLessThan(5);
  });
});

describe('a token', () => {
  it('a token is checked, sent with every request, kept in this tab only, and forgotten at sign-out', async () => {
    const seen: (string | null)[] = [];
    server.use(
      http.get(at('jobs'), ({ request }) => {
        seen.push(request.headers.get('Authorization'));
        return seen.at(-1) === 'Bearer good'
          ? HttpResponse.json({ items: [] })
          : problem(401, 'unauthenticated', 'no');
      }),
    );
    expect(await signInWithToken('bad')).toMatchObject({ outcome: 'refused' });
    expect(await signInWithToken('with space')).toMatchObject({ outcome: 'refused' });
    expect(await signInWithToken('good')).toEqual({ outcome: 'ok' });
    await call('GET', 'jobs');
    expect(seen).toEqual(['Bearer bad', 'Bearer good', 'Bearer good']);
    expect(sessionStorage.getItem('carillon.token')).toBe('good');
    expect(JSON.stringify({ ...localStorage })).not.toContain('good');
    await signOut();
    expect(sessionStorage.getItem('carillon.token')).toBeNull();
  });
});

describe('a person', () => {
  it('a person signs in by password, and parallel requests renew an ended token once', async () => {
    let renewals = 0;
    server.use(
      http.get(at('auth/state'), () => HttpResponse.json({ setup_needed: false })),
      http.post(at('auth/login'), async ({ request }) => {
        const { password } = (await request.json()) as { password: string };
        return password === 'right'
          ? HttpResponse.json({ access_token: 'first-token', expires_in: 900 })
          : problem(401, 'wrong_credentials', 'no');
      }),
      http.post(at('auth/refresh'), ({ request }) => {
        renewals += 1;
        expect(request.headers.get('X-Carillon-Refresh')).toBe('1');
        return HttpResponse.json({ access_token: 'second-token', expires_in: 900 });
      }),
      http.get(at('auth/me'), () =>
        HttpResponse.json({ name: 'ada', role: 'user', permissions: ['read', 'jobs:run:own'] }),
      ),
      http.get(at('runs'), ({ request }) =>
        request.headers.get('Authorization') === 'Bearer second-token'
          ? HttpResponse.json({ items: [] })
          : problem(401, 'unauthenticated', 'ended'),
      ),
      http.post(at('auth/logout'), () => new HttpResponse(null, { status: 204 })),
    );
    await start();
    expect(renewals).toBe(0);
    expect(await signInWithPassword('ada', 'wrong')).toEqual({ outcome: 'refused', detail: 'no' });
    expect(await signInWithPassword('ada', 'right')).toEqual({ outcome: 'ok' });
    await Promise.all([call('GET', 'runs'), call('GET', 'runs'), call('GET', 'runs')]);
    expect(renewals).toBe(1);
    expect(JSON.stringify([{ ...localStorage }, { ...sessionStorage }])).not.toMatch(
      /first-token|second-token|right/,
    );
    await signOut();
  });
});

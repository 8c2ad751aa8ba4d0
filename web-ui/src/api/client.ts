// The only access to the API: adds the authorization, reads problem+json and versions, and notes whether the
// server answers.
//
// Errors   Every failure is an ApiError. `code` is stable (docs/api.md); the console adds
//          "unreachable", for a server that did not answer.
import { fetchProblems, problemText } from '../i18n/problems';
import { noteServerTime } from '../lib/server_clock';
import { noteAnswer, noteLoss } from './reachability';
import type { FieldError, Problem } from './types';
import { READ_LONGEST_MS, apiUrl, type Query } from './url';

// The credential that requests carry. The session provides it, so that the API does not depend on the sign-in.
export interface Credential<Sent = unknown> {
  authorization: () => string; // the header; empty if nobody is signed in
  current: () => Sent; // identifies the credential that a request is sent with
  renew: (sent: Sent) => Promise<boolean>; // after a 401; true if the request should be sent again
}
let credential: Credential = { authorization: () => '', current: () => null, renew: async () => false };
export const setCredential = <Sent>(next: Credential<Sent>) => {
  credential = next as Credential;
};

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly traceId: string;
  readonly errors: FieldError[];
  readonly problem: Problem | undefined;

  constructor(status: number, code: string, detail: string, problem?: Problem) {
    super(detail);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.traceId = problem?.trace_id ?? '';
    this.errors = (problem?.errors ?? []).map((one) => ({
      ...one,
      detail: problemText('field', one.code, one.detail),
    }));
    this.problem = problem;
  }

  // True if the action is refused only until the user confirms that two processes may run at the same time.
  get asksOverlap(): boolean {
    return this.errors.some((one) => one.pointer === '/confirm_overlap');
  }
}

export interface RequestOptions {
  query?: Query;
  body?: unknown;
  ifMatch?: string;
  idempotencyKey?: string;
  signal?: AbortSignal;
  headers?: Record<string, string>;
  // For requests of the sign-in itself. These requests have no access token that could be renewed.
  anonymous?: boolean;
}

export interface Answer<T> {
  data: T;
  etag: string;
}

function unreachable(error: unknown): ApiError {
  noteLoss();
  return new ApiError(0, 'unreachable', error instanceof Error ? error.message : String(error));
}

async function attempt(method: string, path: string, options: RequestOptions): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json', ...options.headers };
  const bearer = options.anonymous ? '' : credential.authorization();
  if (bearer) headers.Authorization = bearer;
  if (options.body !== undefined) headers['Content-Type'] = 'application/json';
  if (options.ifMatch) headers['If-Match'] = options.ifMatch;
  if (options.idempotencyKey) headers['Idempotency-Key'] = options.idempotencyKey;
  try {
    const response = await fetch(apiUrl(path, options.query), {
      method,
      headers,
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: options.signal,
      cache: 'no-store',
    });
    noteServerTime(response.headers.get('Date'));
    noteAnswer();
    return response;
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw unreachable(error);
  }
}

async function problemOf(response: Response): Promise<ApiError> {
  const type = response.headers.get('Content-Type') ?? '';
  if (type.includes('json')) {
    try {
      const problem = (await response.json()) as Problem;
      if (!problem.detail) await fetchProblems();
      return new ApiError(response.status, problem.code ?? 'unknown', problem.detail ?? '', problem);
    } catch {
      // The body of the response was cut off, so only the status is known.
    }
  }
  return new ApiError(response.status, 'http_' + response.status, response.statusText);
}

// Waits for the renewal of the token. `signal` ends only this wait. The renewal itself continues for other
// requests, because the renewal cookie can be used only once.
async function renewed(sent: unknown, signal: AbortSignal | undefined): Promise<boolean> {
  if (!signal) return credential.renew(sent);
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    credential
      .renew(sent)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', stop));
  });
}

export async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const sent = credential.current();
  let response = await attempt(method, path, options);
  if (response.status === 401 && !options.anonymous && (await renewed(sent, options.signal))) {
    response = await attempt(method, path, options);
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

// Returns the error for an answer that cannot be parsed. After a write such an answer leaves the
// outcome unknown.
async function unreadable(method: string, status: number, why: string): Promise<ApiError> {
  if (method === 'GET') return new ApiError(status, 'http_' + status, why);
  await fetchProblems();
  return new ApiError(status, 'outcome_unknown', '');
}

async function bodyOf(method: string, response: Response): Promise<unknown> {
  try {
    return JSON.parse(await response.text());
  } catch (error) {
    if (error instanceof SyntaxError) throw await unreadable(method, response.status, error.message);
    throw error;
  }
}

// Reads are aborted after READ_LONGEST_MS. Writes are not aborted, because their outcome would then
// be unknown.
export async function call<T>(
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer<T>> {
  const cut = new AbortController();
  const stop = () => cut.abort();
  const timer = method === 'GET' ? setTimeout(stop, READ_LONGEST_MS) : undefined;
  options.signal?.addEventListener('abort', stop);
  if (options.signal?.aborted) stop();
  try {
    const response = await send(method, path, { ...options, signal: cut.signal });
    const data = response.status === 204 ? undefined : await bodyOf(method, response);
    return { data: data as T, etag: response.headers.get('ETag') ?? '' };
  } catch (error) {
    if (error instanceof ApiError || options.signal?.aborted) throw error;
    throw unreachable(error);
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', stop);
  }
}

export async function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return (await call<T>('GET', path, { query, signal })).data;
}

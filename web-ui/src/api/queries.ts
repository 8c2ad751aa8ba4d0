// Queries that several pages share. One rule decides how often each query is repeated.
import { QueryClient, keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { usePace } from '../lib/poll_interval';
import { usePreferences } from '../lib/preferences';
import { isSearch, isTold } from './changes';
import { ApiError, call, get } from './client';
import { readJobs, withDefinition } from './job_pages';
import type {
  ApiToken,
  AuditEntry,
  DeadLetter,
  Delivery,
  Executor,
  FailingJob,
  Gap,
  Job,
  JobQueue,
  JobVersion,
  Page,
  Preview,
  Role,
  Run,
  Secret,
  SystemConfig,
  SystemStatus,
  Topology,
  User,
} from './types';
import type { Query } from './url';

const TRIES = 2;
const PAGE_SIZE = 50;
const SELDOM = 5;
const NAMESPACES_MAX = 500; // names offered as choices; users can type any other name
const NAMESPACES_STALE_MS = 30_000;
export const FAST_MS = 2000;
export const CALM_MS = 5000;

// True if the server refused the query and polling cannot change this: the ID is invalid, the object does not
// exist, or the user is not permitted to see it. Such a query is not polled. It is repeated when the page is
// visited again, when a change is announced, or when the user asks for it.
export const isRefused = (error: unknown): boolean =>
  error instanceof ApiError && [400, 403, 404].includes(error.status);

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A request that the server rejected (4xx) is not retried, because the server would reject it again.
      retry: (failures, error) =>
        failures < TRIES && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
      retryDelay: 1000,
      networkMode: 'always',
      staleTime: 1000,
    },
    mutations: { networkMode: 'always' },
  },
});

// Returns the interval between repetitions of a query: the interval of the page if it has one, or else `ms`.
// False if updates are switched off. While the tab is hidden, the query library stops all repetitions.
export function useEvery(ms: number): number | false {
  const pace = usePace();
  return usePreferences().live && (pace ?? ms);
}

type Reader<T> = (query: Query & { page_size: number }, signal: AbortSignal) => Promise<Page<T>>;

export function useList<T>(
  path: string,
  query: Query & { page_size?: number },
  every: number,
  enabled = true,
  read: Reader<T> = (page, signal) => get<Page<T>>(path, page, signal),
) {
  const refetchInterval = useEvery(every);
  return useInfiniteQuery({
    queryKey: [path, query],
    queryFn: ({ pageParam, signal }) =>
      read({ ...query, page_size: query.page_size ?? PAGE_SIZE, page_token: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_page_token ?? undefined,
    // Searches are repeated more slowly, because they cost more than a page. Lists whose changes are
    // announced are repeated more slowly too.
    refetchInterval: (one) =>
      !isRefused(one.state.error) &&
      refetchInterval &&
      refetchInterval * (isTold(path) || isSearch(one.state.data) ? SELDOM : 1),
    placeholderData: keepPreviousData,
    enabled,
  });
}

export const useJobs = (query: Query & { page_size?: number }) =>
  useList<Job>('jobs', query, CALM_MS, true, readJobs);
export const useRuns = (query: Query, every = FAST_MS) => useList<Run>('runs', query, every);
export const useExecutors = (query: Query = {}) =>
  useList<Executor>('executors', { page_size: 500, ...query }, FAST_MS);
export const useAudit = (query: Query) => useList<AuditEntry>('audit', query, CALM_MS);
export const useGaps = (query: Query) => useList<Gap>('gaps', query, CALM_MS);
export const useDeadLetters = (query: Query = {}) => useList<DeadLetter>('dead-letters', query, CALM_MS);
export const useFailingJobs = (query: Query & { page_size?: number } = {}) =>
  useList<FailingJob>('failing-jobs', query, CALM_MS);

export const useUsers = (enabled = true) => useList<User>('users', {}, CALM_MS, enabled);
export const useTokens = () => useList<ApiToken>('tokens', {}, CALM_MS);
export const useSecrets = () => useList<Secret>('secrets', {}, CALM_MS);
export const useDeliveries = (query: Query) => useList<Delivery>('deliveries', query, CALM_MS);

// Returns the names of the namespaces that contain jobs. Empty if the server is too old to know namespaces.
export function useNamespaces(): string[] {
  const namespaces = useQuery({
    queryKey: ['jobs', '', 'namespaces'], // no job has an empty id
    queryFn: ({ signal }) =>
      get<Page<{ namespace: string }>>('namespaces', { page_size: NAMESPACES_MAX }, signal),
    staleTime: NAMESPACES_STALE_MS,
  });
  return namespaces.data?.items.map((one) => one.namespace) ?? [];
}

// The roles are read once, because they change only with the version of the server.
export function useRoles(): readonly Role[] {
  const roles = useQuery({
    queryKey: ['roles'],
    queryFn: ({ signal }) => get<Page<Role>>('roles', {}, signal),
    staleTime: Infinity,
  });
  return roles.data?.items ?? [];
}

export const useVersions = (id: string) =>
  useList<JobVersion>(`jobs/${encodeURIComponent(id)}/versions`, {}, CALM_MS);

export const itemsOf = <T>(data: { pages: Page<T>[] } | undefined): T[] =>
  data?.pages.flatMap((page) => page.items) ?? [];

// Returns the number of items of a list. With `more` the list has at least that many.
export function totalOf(data: { pages: Page<unknown>[] } | undefined): { n: number; more: boolean } | null {
  const { total, total_at_least } = data?.pages[0] ?? {};
  if (total !== undefined) return { n: total, more: false };
  return total_at_least === undefined ? null : { n: total_at_least, more: true };
}

export function useJob(id: string, every: number = CALM_MS) {
  const refetchInterval = useEvery(every);
  return useQuery({
    queryKey: ['jobs', id],
    queryFn: async ({ signal }) => {
      const answer = await call<Job>('GET', `jobs/${encodeURIComponent(id)}`, { signal });
      return { ...answer, data: withDefinition(answer.data) };
    },
    refetchInterval: ({ state }) => every !== 0 && !isRefused(state.error) && refetchInterval,
  });
}

type NextFires = Pick<Preview, 'items'> & Partial<Pick<Preview, 'skipped' | 'warnings'>>;

export function useNextFires(id: string, n: number) {
  const refetchInterval = useEvery(CALM_MS);
  return useQuery({
    queryKey: ['jobs', id, 'next', n],
    queryFn: ({ signal }) => get<NextFires>(`jobs/${encodeURIComponent(id)}/next`, { n }, signal),
    refetchInterval: ({ state }) => !isRefused(state.error) && refetchInterval,
  });
}

export function useJobQueue(id: string, limit: number) {
  const refetchInterval = useEvery(FAST_MS);
  return useQuery({
    queryKey: ['jobs', id, 'queue', limit],
    queryFn: ({ signal }) => get<JobQueue>(`jobs/${encodeURIComponent(id)}/queue`, { limit }, signal),
    refetchInterval: ({ state }) => !isRefused(state.error) && refetchInterval,
  });
}

export function useStatus() {
  const refetchInterval = useEvery(CALM_MS);
  return useQuery({
    queryKey: ['system', 'status'],
    queryFn: ({ signal }) => get<SystemStatus>('system/status', {}, signal),
    refetchInterval,
  });
}

export function useTopology() {
  const refetchInterval = useEvery(CALM_MS);
  return useQuery({
    queryKey: ['system', 'topology'],
    queryFn: ({ signal }) => get<Topology>('system/topology', {}, signal),
    refetchInterval,
  });
}

export function useConfig() {
  return useQuery({
    queryKey: ['system', 'config'],
    queryFn: ({ signal }) => call<SystemConfig>('GET', 'system/config', { signal }),
  });
}

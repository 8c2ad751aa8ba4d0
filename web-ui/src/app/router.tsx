// The pages and their URLs. The code of each page is a separate file, which is loaded when the page
// is first opened.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { ApiError } from '../api/client';
import { LoadFailure, Loading } from '../ui/ui';
import {
  BACKFILL_STATES,
  BULK_RESULTS,
  BULK_STATES,
  DELIVERY_STATES,
  EXECUTOR_STATES,
  GAP_REASONS,
  NOTICE_KINDS,
  RUN_STATES,
  type BackfillState,
  type BulkResult,
  type BulkState,
  type DeliveryState,
  type Job,
  type NoticeKind,
} from '../api/types';
import type { AuditSearch } from '../features/audit/audit_filters';
import type { ExecutorSearch } from '../features/executors/executors_page';
import type { EventSearch } from '../features/events/events_page';
import type { GapSearch } from '../features/gaps/gaps_page';
import type { RunSearch } from '../features/runs/list/filter_bar';
import type { Level } from '../features/runs/log/log_levels';
import {
  PAGE_SIZES,
  RANGES,
  REFRESHES,
  many,
  numeral,
  one,
  oneOf,
  parseSearch,
  stringifySearch,
  type Range,
  type Refresh,
} from '../lib/search_params';
import { NotFound, Shell } from './shell/shell';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('../features/overview/overview_page'), 'OverviewPage'),
});

interface JobsSearch {
  sort?: string;
  q?: string;
  status?: Job['state'];
  paused_by?: 'failures';
  namespace?: string[];
  selector?: string;
  user_id?: string;
  page_size?: (typeof PAGE_SIZES)[number];
}

const jobs = createRoute({
  getParentRoute: () => root,
  path: '/jobs',
  validateSearch: (search): JobsSearch => ({
    q: one(search.q),
    sort: oneOf(search.sort, [
      'name',
      '-name',
      'update_time',
      '-update_time',
      'create_time',
      '-create_time',
      '-job_id',
    ]),
    namespace: many(search.namespace),
    status: oneOf(search.status, ['ENABLED', 'PAUSED']),
    paused_by: oneOf(search.paused_by, ['failures']),
    selector: one(search.selector),
    user_id: one(search.user_id),
    page_size: oneOf(search.page_size, PAGE_SIZES),
  }),
  component: lazyRouteComponent(() => import('../features/jobs/list/jobs_page'), 'JobsPage'),
});

const newJob = createRoute({
  getParentRoute: () => root,
  path: '/jobs/new',
  validateSearch: (search): { from?: string } => ({ from: one(search.from) }),
  component: lazyRouteComponent(() => import('../features/jobs/form/form_page'), 'NewJobPage'),
});

// This path is not below /jobs, because every name below /jobs may be the id of a job.
const importJobs = createRoute({
  getParentRoute: () => root,
  path: '/import',
  component: lazyRouteComponent(() => import('../features/jobs/transfer/import_page'), 'ImportPage'),
});

const editJob = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$id/edit',
  component: lazyRouteComponent(() => import('../features/jobs/form/form_page'), 'EditJobPage'),
});

export const JOB_TABS = [
  'overview',
  'graph',
  'runs',
  'configuration',
  'dependencies',
  'versions',
  'why',
  'audit',
] as const;
interface JobSearch {
  tab?: (typeof JOB_TABS)[number];
  state?: string[];
  version?: string;
  against?: string;
  at?: string;
}

const job = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$id',
  validateSearch: (search): JobSearch => ({
    tab: oneOf(search.tab, JOB_TABS),
    state: many(search.state),
    version: numeral(search.version),
    against: numeral(search.against),
    at: one(search.at),
  }),
  component: lazyRouteComponent(() => import('../features/jobs/detail/job_page'), 'JobPage'),
});

interface RunsSearch extends RunSearch {
  sort?: string;
}

const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  validateSearch: (search): RunsSearch => ({
    state: many(search.state)?.filter((state) => RUN_STATES.includes(state as never)),
    waiting: oneOf(search.waiting, ['upstream_run', 'approval', 'time']),
    kind: many(search.kind),
    job_id: one(search.job_id),
    namespace: many(search.namespace),
    user_id: one(search.user_id),
    executor_id: one(search.executor_id),
    since: one(search.since),
    until: one(search.until),
    sort: oneOf(search.sort, ['fire_time']),
  }),
  component: lazyRouteComponent(() => import('../features/runs/list/runs_page'), 'RunsPage'),
});

const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$id',
  validateSearch: (search): { attempt?: string; q?: string; level?: Level } => ({
    attempt: one(search.attempt),
    q: one(search.q),
    level: oneOf(search.level, ['ERROR', 'WARN', 'INFO', 'DEBUG']),
  }),
  component: lazyRouteComponent(() => import('../features/runs/detail/run_page'), 'RunPage'),
});

const workflows = createRoute({
  getParentRoute: () => root,
  path: '/workflows',
  validateSearch: (search): { q?: string } => ({ q: one(search.q) }),
  component: lazyRouteComponent(() => import('../features/workflows/workflows_page'), 'WorkflowsPage'),
});

const gaps = createRoute({
  getParentRoute: () => root,
  path: '/gaps',
  validateSearch: (search): GapSearch => ({
    job_id: one(search.job_id),
    reason: many(search.reason)?.filter((reason) => GAP_REASONS.includes(reason)),
    since: one(search.since),
    until: one(search.until),
  }),
  component: lazyRouteComponent(() => import('../features/gaps/gaps_page'), 'GapsPage'),
});

const events = createRoute({
  getParentRoute: () => root,
  path: '/events',
  validateSearch: (search): EventSearch => search,
  component: lazyRouteComponent(() => import('../features/events/events_page'), 'EventsPage'),
});

const bulks = createRoute({
  getParentRoute: () => root,
  path: '/bulk',
  validateSearch: (search): { state?: BulkState; user_id?: string } => ({
    state: oneOf(search.state, BULK_STATES),
    user_id: one(search.user_id),
  }),
  component: lazyRouteComponent(() => import('../features/bulk/bulk_list_page'), 'BulkListPage'),
});

const bulk = createRoute({
  getParentRoute: () => root,
  path: '/bulk/$id',
  validateSearch: (search): { result?: BulkResult } => ({ result: oneOf(search.result, BULK_RESULTS) }),
  component: lazyRouteComponent(() => import('../features/bulk/bulk_page'), 'BulkPage'),
});

const backfills = createRoute({
  getParentRoute: () => root,
  path: '/backfills',
  validateSearch: (search): { state?: BackfillState; job_id?: string } => ({
    state: oneOf(search.state, BACKFILL_STATES),
    job_id: one(search.job_id),
  }),
  component: lazyRouteComponent(() => import('../features/backfills/backfills_page'), 'BackfillsPage'),
});

const executors = createRoute({
  getParentRoute: () => root,
  path: '/executors',
  validateSearch: (search): ExecutorSearch => ({
    state: many(search.state)?.filter((state) => EXECUTOR_STATES.includes(state as never)),
    q: one(search.q),
    label: many(search.label),
  }),
  component: lazyRouteComponent(() => import('../features/executors/executors_page'), 'ExecutorsPage'),
});

const executor = createRoute({
  getParentRoute: () => root,
  path: '/executors/$id',
  component: lazyRouteComponent(() => import('../features/executors/executor_page'), 'ExecutorPage'),
});

const system = createRoute({
  getParentRoute: () => root,
  path: '/system',
  validateSearch: (search): { ask?: 'pause'; refresh?: Refresh; range?: Range } => ({
    ask: oneOf(search.ask, ['pause']),
    refresh: oneOf(search.refresh, REFRESHES),
    range: oneOf(search.range, RANGES),
  }),
  component: lazyRouteComponent(() => import('../features/system/system_page'), 'SystemPage'),
});

const admin = createRoute({
  getParentRoute: () => root,
  path: '/admin',
  beforeLoad: () => {
    throw redirect({ to: '/admin/users' });
  },
});

const audit = createRoute({
  getParentRoute: () => root,
  path: '/admin/audit',
  validateSearch: (search): AuditSearch => ({
    object_id: one(search.object_id),
    actor: one(search.actor),
    action: many(search.action),
    since: one(search.since),
    until: one(search.until),
  }),
  component: lazyRouteComponent(() => import('../features/audit/audit_page'), 'AuditPage'),
});

const users = createRoute({
  getParentRoute: () => root,
  path: '/admin/users',
  component: lazyRouteComponent(() => import('../features/users/users_page'), 'UsersPage'),
});

const tokens = createRoute({
  getParentRoute: () => root,
  path: '/admin/tokens',
  component: lazyRouteComponent(() => import('../features/tokens/tokens_page'), 'TokensPage'),
});

const secrets = createRoute({
  getParentRoute: () => root,
  path: '/admin/secrets',
  component: lazyRouteComponent(() => import('../features/secrets/secrets_page'), 'SecretsPage'),
});

const deliveries = createRoute({
  getParentRoute: () => root,
  path: '/admin/deliveries',
  validateSearch: (search): { state?: DeliveryState; kind?: NoticeKind; job_id?: string } => ({
    state: oneOf(search.state, DELIVERY_STATES),
    kind: oneOf(search.kind, NOTICE_KINDS),
    job_id: one(search.job_id),
  }),
  component: lazyRouteComponent(() => import('../features/notices/deliveries_page'), 'DeliveriesPage'),
});

const deadLetters = createRoute({
  getParentRoute: () => root,
  path: '/admin/dead-letters',
  validateSearch: (search): { job_id?: string } => ({ job_id: one(search.job_id) }),
  component: lazyRouteComponent(
    () => import('../features/dead_letters/dead_letters_page'),
    'DeadLettersPage',
  ),
});

// The pages of groups and calendars are not below /admin, because everybody may read them.
const groups = createRoute({
  getParentRoute: () => root,
  path: '/groups',
  component: lazyRouteComponent(() => import('../features/groups/groups_page'), 'GroupsPage'),
});

const group = createRoute({
  getParentRoute: () => root,
  path: '/groups/$name',
  component: lazyRouteComponent(() => import('../features/groups/group_page'), 'GroupPage'),
});

const calendars = createRoute({
  getParentRoute: () => root,
  path: '/calendars',
  // `new` is not a path, because it may be the name of a calendar.
  validateSearch: (search): { new?: 'yes' } => ({ new: oneOf(search.new, ['yes']) }),
  component: lazyRouteComponent(() => import('../features/calendars/calendars_page'), 'CalendarsPage'),
});

const calendar = createRoute({
  getParentRoute: () => root,
  path: '/calendars/$name',
  component: lazyRouteComponent(() => import('../features/calendars/calendar_page'), 'CalendarPage'),
});

const schedule = createRoute({
  getParentRoute: () => root,
  path: '/schedule',
  validateSearch: (
    search,
  ): {
    view?: 'day' | 'week';
    date?: string;
    zone?: string;
    hour?: string;
    pause_from?: string;
    pause_until?: string;
  } => ({
    view: oneOf(search.view, ['day', 'week']),
    date: one(search.date),
    zone: one(search.zone),
    hour: one(search.hour),
    pause_from: one(search.pause_from),
    pause_until: one(search.pause_until),
  }),
  component: lazyRouteComponent(() => import('../features/schedule/schedule_page'), 'SchedulePage'),
});

const account = createRoute({
  getParentRoute: () => root,
  path: '/account',
  component: lazyRouteComponent(() => import('../features/account/account_page'), 'AccountPage'),
});

const tree = root.addChildren([
  overview,
  jobs,
  newJob,
  importJobs,
  editJob,
  job,
  runs,
  run,
  workflows,
  gaps,
  events,
  bulks,
  bulk,
  backfills,
  executors,
  executor,
  system,
  admin,
  audit,
  users,
  tokens,
  secrets,
  deliveries,
  deadLetters,
  groups,
  group,
  calendars,
  calendar,
  account,
  schedule,
]);

export const router = createRouter({
  routeTree: tree,
  basepath: new URL(document.baseURI).pathname,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultPendingComponent: Loading,
  // An error that is no ApiError means that a part of the console failed or could not be loaded, perhaps
  // because the server was upgraded. Only a reload of the page loads the part again.
  defaultErrorComponent: ({ error, reset }) => (
    <LoadFailure error={error} onRetry={error instanceof ApiError ? reset : () => window.location.reload()} />
  ),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

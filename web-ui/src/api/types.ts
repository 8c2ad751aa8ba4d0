// Types of the REST API (docs/api.md). Fields that the console does not use are left out. Enumerations may
// grow, so code that reads one handles unknown values.

export type RunState =
  'PENDING' | 'RUNNING' | 'HELD' | 'COMPLETED' | 'FAILED' | 'TIMED_OUT' | 'CANCELLED' | 'LOST' | 'SKIPPED';

export const RUN_STATES: readonly RunState[] = [
  'PENDING',
  'RUNNING',
  'HELD',
  'COMPLETED',
  'FAILED',
  'TIMED_OUT',
  'CANCELLED',
  'LOST',
  'SKIPPED',
];
export const FINAL_STATES: ReadonlySet<string> = new Set([
  'COMPLETED',
  'FAILED',
  'TIMED_OUT',
  'CANCELLED',
  'LOST',
  'SKIPPED',
]);

export interface Page<T> {
  items: T[];
  next_page_token: string | null;
  // The first page has one of them: the number of items, or the number that was seen.
  total?: number;
  total_at_least?: number;
  // Runs: how far back the search went, if it ended there and not because the page was full.
  searched_to?: string;
  // Jobs, set by job_pages: the page took several requests; `unfinished`: it is not full yet.
  searched?: 'full' | 'unfinished';
}

// What the caller may do with it by permission, whatever its state. Absent: only the response to
// the action tells.
export interface Reachable {
  allowed_actions?: string[];
}

export type Schedule =
  | { kind: 'cron'; cron_expression: string; time_zone?: string; schedule_id?: number }
  | { kind: 'rate'; every_ms: number; start_time?: string; schedule_id?: number }
  | { kind: 'once'; at: string; schedule_id?: number };

// Notifications of a job; absent values are the cluster's.
export interface Notify {
  on?: string[];
  late_after_s?: number;
  mail_to?: string[];
}

export interface Job extends Reachable {
  job_id: string;
  name: string;
  namespace?: string; // absent: server older than namespaces
  description: string;
  type: string;
  command?: string;
  cron_expression: string | null;
  schedules: Schedule[];
  time_zone: string;
  enabled: boolean;
  state: 'ENABLED' | 'PAUSED';
  pause_reason: string | null;
  next_fire_time: string | null;
  timeout: number;
  queue_timeout: number;
  kill_grace: number;
  retry_count: number;
  retry_interval: number;
  retry_intervals: number[];
  retry_backoff: string;
  on_lost: string;
  priority: number;
  overlap_policy: string;
  routing: string;
  executor_selector: string;
  executor_id: string;
  misfire_policy: string;
  misfire_grace: number;
  catch_up_window: number;
  catch_up_max: number;
  dst_gap: string;
  dst_repeat: string;
  parameters: Record<string, unknown>;
  env: Record<string, string>;
  labels: Record<string, string>;
  notify: Notify;
  user_id: string;
  version: number;
  create_time: string;
  update_time: string;
}

export interface Fire {
  schedule: number;
  fire_time: string;
  local_time: string;
  utc_offset: string;
  time_zone: string;
  dst: 'moved_by_gap' | 'repeated' | null;
}

// A fire that a clock change skips, at the time that it would otherwise have had.
export type SkippedFire = Omit<Fire, 'dst'> & { dst: string };

// A job with dead letters and no success since.
export interface FailingJob {
  job_id: string;
  job_name: string;
  failing_since: string;
  failures: number;
  more_failures: boolean; // the streak may be longer
  last_run_id: string;
  last_state: RunState;
  last_failure_time: string;
  last_success_time: string | null;
  dead_letters: number | null; // null: counting took too long
}

export interface Preview {
  valid: boolean;
  errors: FieldError[];
  explanations: string[];
  items: Fire[];
  skipped?: SkippedFire[]; // absent: server older than this field
  warnings: { schedule: number; code: string; detail: string }[];
}

export interface FireBucket {
  start: string;
  fires: number;
}

export interface FireLoad {
  from: string;
  until: string;
  buckets: FireBucket[];
  busiest: FireBucket | null;
  jobs: number;
  jobs_read: number;
  truncated: boolean;
  items?: { job_id: string; name: string; fires: number; first_fire_time: string; buckets: FireBucket[] }[];
}

export interface Attempt {
  attempt: number;
  state: string;
  executor_id: string | null;
  reason: string | null;
  claimed_at: string | null;
  started_at: string | null;
  ended_at: string | null;
  exit_code: number | null;
  error: string | null;
  output?: string | null;
  output_truncated?: boolean;
}

export interface Run extends Reachable {
  run_id: string;
  job_id: string;
  job_name: string;
  kind: string;
  fire_time: string;
  due_at?: string | null;
  state: string;
  reason: string | null;
  attempt: number;
  executor_id: string | null;
  planned_at: string | null;
  claimed_at: string | null;
  started_at: string | null;
  ended_at: string | null;
  exit_code: number | null;
  output?: string | null;
  output_truncated?: boolean;
  error: string | null;
  attempts?: Attempt[];
  priority: number;
  job_version: number;
  cancel_requested: boolean;
  // Only for a single run: why it has not been started.
  waiting?: { code: string; detail: string } | null;
  cancel_mode?: 'graceful' | 'kill' | null;
  parameters?: Record<string, unknown> | null;
  trace_id?: string;
}

// The fields that GET /api/recent-runs returns for each run, newest first.
export type RecentRun = Pick<Run, 'run_id' | 'state' | 'fire_time' | 'started_at' | 'ended_at'>;

export const EXECUTOR_STATES = ['ONLINE', 'UNHEALTHY', 'LOST', 'OFFLINE'] as const;

export interface Executor {
  executor_id: string;
  host: string;
  port: number;
  state: string;
  enabled: boolean;
  draining: boolean;
  labels: Record<string, string>;
  slots: number;
  running: number;
  load: { cpu: number; memory: number; disk: number; io: number };
  last_heartbeat_time: string | null;
  register_time: string | null;
  version: string;
  config_version: number;
  tasks_behind?: number | null; // null: not known
}

export interface StoreFacts {
  store_id: string;
  server_id: string;
  mark: number;
}

// Of the whole cluster: nothing starts.
export interface ClusterPause {
  since: string;
  by: string;
  reason: string;
}

// Null, or absent: not known.
export interface Member {
  id: string;
  address: string;
  owned_segments: number | null;
  clock_offset_ms: number | null;
  version?: string | null;
  ops_url?: string | null; // URL of its health and metrics, as its own host names it
  paused?: boolean | null; // whether the pause of the cluster is in force on it
}

export interface SystemStatus {
  leader: string | null;
  members: Member[];
  segments: { segment: number; owner: string | null; epoch: number }[] | null;
  executors: Record<string, number>;
  runs_pending: number | null;
  runs_running: number | null;
  oldest_overdue_ms: number | null;
  late_ms: { p50: number | null; p99: number | null };
  // Records that were sent and have not been handled; null: unknown.
  lag: { tasks: number | null; results: number | null; logs: number | null };
  store_reachable: boolean;
  unknown_since: string | null;
  version: string;
  paused?: ClusterPause | null; // absent: server older than the pause
  store: {
    state: string;
    since: string | null;
    reason: string | null;
    detail: string | null;
    trusted: StoreFacts | null;
    seen: StoreFacts | null;
  };
}

export interface OutageEffect {
  code: string;
  capability: string;
  effect: 'stops' | 'delayed' | 'goes_on';
  after_s: number;
  until_s: number | null;
  detail: string;
}
export interface TopologyNode {
  id: string;
  kind: string;
  name: string;
  address: string | null;
  state: 'ok' | 'degraded' | 'down' | 'unknown';
  detail: string | null;
  leader?: boolean;
  counts?: Record<string, number>;
  affects: OutageEffect[];
}
export interface Topology {
  seen_by: string;
  time: string;
  state: TopologyNode['state'];
  nodes: TopologyNode[];
  edges: { from: string; to: string; purpose: string; critical: boolean; state: TopologyNode['state'] }[];
  impact: (OutageEffect & { nodes: string[] })[];
}

export interface SystemConfig {
  version: number;
  settings: Record<string, string>;
  sources: Record<string, string>;
  live: string[];
}

export interface AuditEntry {
  id: string;
  time: string;
  actor: string;
  action: string;
  object_id: string;
  reason: string;
  trace_id: string;
  changes: AuditChange[] | null; // for the creation or edit of a job
}

export interface AuditChange {
  path: string;
  from: unknown;
  to: unknown;
}

export interface Gap {
  job_id: string;
  schedule_id: number;
  from: string;
  to: string;
  count: number;
  reason: string;
}

export const GAP_REASONS: readonly string[] = ['misfire', 'paused', 'catch_up_limit', 'edited', 'deleted'];

export interface DeadLetter extends Reachable {
  id: string;
  run_id: string;
  job_id: string;
  state: string;
  attempts: number;
  reason: string;
  create_time: string;
}

export interface FieldChange {
  field: string;
  before: unknown;
  after: unknown;
}

export interface JobVersion {
  version: number;
  actor: string;
  create_time: string;
  readable: boolean;
  changes: FieldChange[] | null;
}

export interface Why {
  at: string;
  outcome: string;
  explanation: string;
  fire_time: string | null;
  job_version: number | null;
  run_id: string | null;
  gap: Gap | null;
  cluster_pause: { since: string; until: string; by: string; reason: string } | null;
}

// Jobs of other users that a user may treat as their own: all of a namespace, or those in it that
// match the selector.
export interface Share {
  namespace: string;
  selector?: string;
}

export interface User {
  user_id: string;
  name: string;
  display_name: string;
  role: string;
  shares?: Share[];
  disabled: boolean;
  version: number;
  create_time: string;
  update_time: string;
}

export interface Role {
  role: string;
  permissions: string[];
}

export interface ApiToken {
  token_id: string;
  name: string;
  role: string;
  scopes?: string[] | null; // null: all permissions of the role; absent: server older than scopes
  prefix: string;
  user_id: string | null;
  create_time: string;
  expires_at: string | null;
  last_used_at: string | null;
}

export interface Secret {
  name: string;
  description: string;
  shared: boolean;
  user_id: string;
  version: number;
  create_time: string;
  update_time: string;
}

export type NoticeKind = 'failed' | 'missed' | 'late' | 'recovered';
export const NOTICE_KINDS: readonly NoticeKind[] = ['failed', 'missed', 'late', 'recovered'];

export type DeliveryState = 'PENDING' | 'DELIVERED' | 'GIVEN_UP';
export const DELIVERY_STATES: readonly DeliveryState[] = ['PENDING', 'DELIVERED', 'GIVEN_UP'];

export interface Delivery {
  id: string;
  notice_id: string;
  channel: string;
  kind: string;
  job_id: string;
  run_id: string | null;
  state: string;
  attempts: number;
  create_time: string;
  next_try_time: string | null;
  end_time: string | null;
  status: number | null;
  error: string | null;
  recipients: string[];
}

export interface TestOutcome {
  channel: string;
  delivered: boolean;
  status: number | null;
  error: string | null;
}

export type BulkState = 'RUNNING' | 'DONE' | 'CANCELLED' | 'STOPPED';
export const BULK_STATES: readonly BulkState[] = ['RUNNING', 'DONE', 'CANCELLED', 'STOPPED'];

export interface BulkAction extends Reachable {
  bulk_id: string;
  action: string;
  kind: string;
  state: string;
  reason: string | null;
  confirm_overlap: boolean;
  mode?: 'graceful' | 'kill' | null; // of cancel
  total: number;
  done: number;
  failed: number;
  skipped: number;
  actor: string;
  user_id: string | null;
  error: string | null;
  create_time: string;
  update_time: string;
  end_time: string | null;
}

export type BulkResult = 'pending' | 'done' | 'error' | 'skipped';
export const BULK_RESULTS: readonly BulkResult[] = ['pending', 'done', 'error', 'skipped'];

export interface BulkItem {
  position: number;
  id: string;
  result: string;
  run_id: string | null;
  error: Pick<Problem, 'code' | 'detail'> | null;
}

export interface FieldError {
  pointer: string;
  code: string;
  detail: string;
}

export interface Problem {
  status: number;
  code: string;
  title: string;
  detail: string;
  trace_id: string;
  errors: FieldError[];
  current_version?: number;
  current?: unknown;
}

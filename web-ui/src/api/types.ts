// Names for the API's types (schema.d.ts), and types that the console adds. A server of an older version may
// leave out a newer field, and a newer server may send new values of an enumeration. Code that reads a field
// must handle both.
import type { components } from './schema';

type Schemas = components['schemas'];

export type RunState = Schemas['RunState'];
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
export const BAD_STATES = ['FAILED', 'TIMED_OUT', 'LOST'] as const;
export const FINAL_STATES: ReadonlySet<string> = new Set([
  'COMPLETED',
  'FAILED',
  'TIMED_OUT',
  'CANCELLED',
  'LOST',
  'SKIPPED',
]);

export interface Page<T> extends Omit<Schemas['Page'], 'items'> {
  items: T[];
  // Set by readJobs if it needed several responses for this page. `unfinished`: the page is not full yet, and
  // more jobs may follow.
  searched?: 'full' | 'unfinished';
}

// The actions that the caller's permissions allow on an object, whatever the state of the object; on a run, what
// its state allows as well. Lists may leave the actions out. The response for a single object has them.
export interface Reachable {
  allowed_actions?: string[];
}

// The results of an upstream job after which a schedule of kind `after` fires.
export const UPSTREAM = ['success', 'failure', 'done'] as const;
export type Upstream = (typeof UPSTREAM)[number];
export interface AfterSchedule {
  kind: 'after';
  job: string;
  on?: Upstream;
  parameters?: Schemas['Parameters'];
  schedule_id?: number;
}

// Runs of another job for which the runs of a job wait.
export type UpstreamWait = Schemas['UpstreamWait'];
export type WaitWindow = UpstreamWait['window'];
export type WaitsPreview = Schemas['PreviewWaits'];

// `problem`: why the definition cannot be read (UnreadableJob). Then the fields of the definition are empty.
export type Job = Omit<Schemas['Job'], 'schedules'> & { schedules: Schedule[]; problem?: string };
export type ParameterRule = Schemas['ParameterRule'];
export type JobQueue = Schemas['JobQueue'];
export type JobVersion = Schemas['JobVersion'];
export type FieldChange = Schemas['Change'];
export type Notify = Schemas['Notify'];
export type Imported = Schemas['Imported'];
export type ImportedRow = Schemas['ImportedRow'];
export type Why = Schemas['WhyJob'];

export type Schedule = Schemas['Schedule'] | AfterSchedule;
export type Preview = Schemas['PreviewSchedule'];
export type ScheduleWarning = Schemas['ScheduleWarning'];
export type Fire = Schemas['Fire'];
export type SkippedFire = Schemas['SkippedFire'];
export type FireBucket = Schemas['FireBucket'];
export type FireLoad = Schemas['FireLoad'];

// The run of an upstream job that started a run of kind `after`.
export interface Trigger {
  run_id: string;
  job_id: string;
  job_name: string | null;
  state: RunState;
  fire_time: string;
}
// A run in a list. The response for a single run also has the optional fields.
export type Run = Schemas['Run'] &
  Partial<
    Pick<
      Schemas['RunDetail'],
      'attempts' | 'outputs' | 'progress' | 'checkpoint' | 'waiting' | 'allowed_actions'
    >
  > & {
    trigger?: Trigger | null;
  };
export type RecentRun = Schemas['RecentRun'];
export type Attempt = Schemas['Attempt'];

export type Gap = Schemas['Gap'];
export const GAP_REASONS: readonly string[] = [
  'misfire',
  'paused',
  'catch_up_limit',
  'edited',
  'deleted',
  'bad_event',
];

export type DeadLetter = Schemas['DeadLetter'] & Reachable;
export type FailingJob = Schemas['FailingJob'];

export type NoticeKind = Schemas['NoticeKind'];
export const NOTICE_KINDS: readonly NoticeKind[] = [
  'failed',
  'missed',
  'late',
  'recovered',
  'job_paused',
  'shed',
  'approval',
];
// Those that a job can choose.
export type JobNoticeKind = Schemas['JobNoticeKind'];
export const JOB_NOTICE_KINDS: readonly JobNoticeKind[] = [
  'failed',
  'missed',
  'late',
  'recovered',
  'job_paused',
  'approval',
];
export type Overload = NonNullable<SystemStatus['overload']>;

export type DeliveryState = Schemas['DeliveryState'];
export const DELIVERY_STATES: readonly DeliveryState[] = ['PENDING', 'DELIVERED', 'GIVEN_UP'];

export type Delivery = Schemas['Delivery'];
export type TestOutcome = Schemas['TestNotices']['channels'][number];

export type BulkState = Schemas['BulkState'];
export const BULK_STATES: readonly BulkState[] = ['RUNNING', 'DONE', 'CANCELLED', 'STOPPED'];

export type BulkResult = Schemas['BulkResult'];
export const BULK_RESULTS: readonly BulkResult[] = ['pending', 'done', 'error', 'skipped'];

export type BulkAction = Schemas['BulkAction'];
export type BulkItem = Schemas['BulkItem'];

export type BackfillState = Schemas['BackfillState'];
export const BACKFILL_STATES: readonly BackfillState[] = [
  'RUNNING',
  'PAUSED',
  'COMPLETED',
  'CANCELLED',
  'STOPPED',
];
export type Backfill = Schemas['Backfill'];
export type BackfillPreview = Schemas['BackfillPreview'];

export type Executor = Schemas['Executor'];
export const EXECUTOR_STATES: readonly Executor['state'][] = ['ONLINE', 'UNHEALTHY', 'LOST', 'OFFLINE'];

export type SystemStatus = Schemas['SystemStatus'];
export type SystemConfig = Schemas['Config'];
export type Member = SystemStatus['members'][number];
export type StoreFacts = NonNullable<Schemas['Store']['seen']>;
export type ClusterPause = NonNullable<Schemas['ClusterPause']>;
export type OutageEffect = Schemas['OutageEffect'];
export type Topology = Schemas['Topology'];
export type TopologyNode = Topology['nodes'][number];

export type AuditEntry = Schemas['AuditRecord'];
export type AuditChange = Schemas['FieldChange'];

export type User = Schemas['User'];
export type Share = Schemas['Shares'][number];
export type ApiToken = Schemas['Token'];
export type Secret = Schemas['Secret'];

export type Group = Schemas['Group'];
export type GroupDetail = Group & Pick<Schemas['GroupDetail'], 'holders' | 'queue'>;
export type Calendar = Schemas['Calendar'];
export type CalendarDefinition = Schemas['CalendarDefinition'];

export interface Role {
  role: string;
  permissions: string[];
}

export type FieldError = Schemas['FieldError'];
export type Problem = Schemas['Problem'] &
  Partial<Pick<Schemas['StaleProblem'], 'current_version' | 'current'>>;

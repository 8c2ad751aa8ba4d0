// Fields of the form: their checks, their first values, and how their texts are read. Pure.
import * as z from 'zod/mini';
import { parse } from 'yaml';
import { parametersOf } from './definition';
import { NOTIFY_DEFAULTS, wrongLate, wrongMail } from './notifications_values';
import { wrongInRule } from '../rules/rule_values';
import { wrongIn } from './schedule_values';
import { CONTAINER_DEFAULTS, isImage } from '../container/container_values';
import { HTTP_DEFAULTS, wrongInHttp } from '../http/http_values';
import { ISOLATION_DEFAULTS, isIsolated, wrongInIsolation } from '../isolation/isolation_values';
import { FAN_OUT_DEFAULTS, wrongInFanOut } from '../fan_out/fan_out_values';
import { WAIT_DEFAULTS, wrongInWait, wrongLimit } from '../waits/waits_values';
import { SCRIPT_DEFAULTS, conditionsOf } from '../script/script_values';

export const KINDS = ['cron', 'rate', 'delay', 'once', 'after', 'event', 'manual', 'several'] as const;
export const OVERLAP_POLICIES = [
  'allow',
  'skip',
  'queue_one',
  'queue_all',
  'cancel_previous',
  'terminate_previous',
] as const;
// True if presume_dead_s is a choice: a function may go on without its executor.
export const isPresumable = (values: { type: string; on_lost: string }): boolean =>
  values.type === 'handler' && values.on_lost === 'retry';
// True if max_running is a choice with this policy.
export const limitsRuns = (policy: string): boolean => ['skip', 'queue_one', 'queue_all'].includes(policy);
// True if a run that finds no free slot may wait.
export const queuesRuns = (policy: string): boolean =>
  ['queue_one', 'queue_all', 'cancel_previous', 'terminate_previous'].includes(policy);

// True if `every_s` is a field of this kind.
const isRepeated = (kind: string): boolean => kind === 'rate' || kind === 'delay';

const isWhole = (text: string, least: number, most: number) =>
  /^\d+$/.test(text) && +text >= least && +text <= most;
const number = (least: number, most: number) =>
  z.string().check(z.refine((text) => isWhole(text, least, most), { error: `range:${least}:${most}` }));
const lines = z.string().check(z.refine((text) => linesOf(text) !== null, { error: 'lines' }));
const checked = (wrong: (text: string) => string | undefined) =>
  z
    .string()
    .check(z.refine((text) => wrong(text) === undefined, { error: (issue) => wrong(String(issue.input)) }));
const HANDLER = /^[a-z0-9][a-z0-9_-]{0,62}\/[a-z0-9][a-z0-9_.-]{0,62}$/;
const INTERVALS_MAX = 100;
const RUNNING_MAX = 1000;
const QUEUED_MAX = 10_000;
const intervals = z.string().check(z.refine((text) => intervalsOf(text) !== null, { error: 'intervals' }));
const conditions = z.string().check(z.refine((text) => conditionsOf(text) !== null, { error: 'conditions' }));
const json = z.string().check(z.refine((text) => parametersOf(text) !== null, { error: 'json' }));

const NAMESPACE = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$/;
export const NO_NAMESPACE = 'default';

export const formSchema = z
  .object({
    name: z.string().check(
      z.refine((text) => text.trim() !== '', { error: 'required' }),
      z.maxLength(200, 'too_long:200'),
    ),
    job_id: z
      .string()
      .check(z.refine((text) => text === '' || /^[a-z0-9][a-z0-9_-]{0,62}$/.test(text), { error: 'job_id' })),
    namespace: z.string().check(z.refine((text) => NAMESPACE.test(text.trim()), { error: 'namespace' })),
    description: z.string(),
    user_id: z.string(),
    type: z.string(),
    command: z.string(),
    handler: z.string(),
    script_interpreter: z.string(),
    script_body: z.string(),
    script_args: z.string(),
    container_image: z.string(),
    container_command: z.string(),
    container_args: z.string(),
    container_network: z.string(),
    container_read_only: z.boolean(),
    container_user: z.string(),
    container_pull: z.string(),
    http_method: z.string(),
    http_url: z.string(),
    http_headers: z.string(),
    http_body: z.string(),
    http_status: z.string(),
    http_contains: z.string(),
    http_regex: z.string(),
    http_json: z.string(),
    http_follow: z.string(),
    http_connect_timeout: z.string(),
    http_tls_verify: z.boolean(),
    http_client_certificate: z.string(),
    http_poll: z.boolean(),
    http_poll_interval: z.string(),
    http_poll_url: z.string(),
    http_poll_url_at: z.string(),
    http_poll_until: z.string(),
    limit_memory_mb: z.string(),
    limit_cpu: z.string(),
    limit_pids: z.string(),
    limit_open_files: z.string(),
    limit_file_size_mb: z.string(),
    limit_enforce: z.string(),
    run_as: z.string(),
    working_directory: z.string(),
    output_encoding: z.string(),
    workflow: z.string(),
    labels: lines,
    env: lines,
    parameters: json,
    rules: z.array(
      z.object({
        name: z.string(),
        type: z.string(),
        default: z.string(),
        choices: z.string(),
        required: z.boolean(),
        description: z.string(),
        kept: z.string(),
      }),
    ),
    enabled: z.boolean(),
    kind: z.enum(KINDS),
    cron_expression: z.string(),
    time_zone: z.string().check(z.refine((text) => text.trim() !== '', { error: 'required' })),
    every_s: z.string(),
    at: z.string(),
    upstream: z.string(),
    on: z.string(),
    event_type: z.string(),
    event_source: z.string(),
    event_filter: z.string(),
    event_parameters: json,
    schedules: z.array(
      z.object({
        kind: z.string(),
        cron_expression: z.string(),
        time_zone: z.string(),
        every_s: z.string(),
        start_time: z.string(),
        end_time: z.string(),
        jitter_s: z.string(),
        calendar: z.string(),
        blackout: z.string(),
        parameters: z.string(),
        at: z.string(),
        job: z.string(),
        on: z.string(),
        type: z.string(),
        source: z.string(),
        filter: z.string(),
        kept: z.string(),
      }),
    ),
    waits: z.array(
      z.object({
        job: z.string(),
        in: z.string(),
        on: z.string(),
        window: z.string(),
        days: z.string(),
        back: z.string(),
        ahead: z.string(),
        which: z.string(),
        kept: z.string(),
      }),
    ),
    wait_limit: z.string(),
    misfire_policy: z.string(),
    misfire_grace: number(0, 86_400),
    catch_up_window: number(0, 31_536_000),
    catch_up_max: number(1, 10_000),
    overlap_policy: z.string(),
    max_running: z.string(),
    queue_max: z.string(),
    concurrency_group: z.string(),
    dst_gap: z.string(),
    dst_repeat: z.string(),
    executor_selector: z.string(),
    executor_id: z.string(),
    fan_out: z.string(),
    shards_total: z.string(),
    shards_max: z.string(),
    broadcast_wait_s: z.string(),
    routing: z.string(),
    routing_key: z.string(),
    priority: number(0, 100),
    timeout: number(1, 604_800),
    queue_timeout: number(0, 604_800),
    kill_grace: number(0, 3600),
    retry_count: number(0, 100),
    retry_interval: number(0, 86_400),
    retry_backoff: z.string(),
    retry_intervals: intervals,
    retry_on: conditions,
    no_retry_on: conditions,
    on_lost: z.string(),
    presume_dead_s: z.string(),
    pause_after_failures: number(0, 100),
    retention_days: number(0, 3650),
    tell: z.string(),
    tell_on: z.array(z.string()),
    late_after_s: checked(wrongLate),
    mail_to: checked(wrongMail),
  })
  .check(
    z.refine((v) => v.type !== 'handler' || HANDLER.test(v.handler.trim()), {
      error: 'handler',
      path: ['handler'],
    }),
    z.refine((v) => v.type !== 'shell' || v.command.trim() !== '', { error: 'required', path: ['command'] }),
    z.refine((v) => v.type !== 'script' || v.script_body.trim() !== '', {
      error: 'required',
      path: ['script_body'],
    }),
    z.refine((v) => v.type !== 'container' || isImage(v.container_image), {
      error: 'image',
      path: ['container_image'],
    }),
    ({ value, issues }) => {
      for (const [field, message] of value.type === 'http' ? wrongInHttp(value) : [])
        issues.push({ code: 'custom', input: value, message, path: [field] });
    },
    ({ value, issues }) => {
      for (const [field, message] of isIsolated(value.type) ? wrongInIsolation(value) : [])
        issues.push({ code: 'custom', input: value, message, path: [field] });
    },
    ({ value, issues }) => {
      for (const [field, message] of wrongInFanOut(value))
        issues.push({ code: 'custom', input: value, message, path: [field] });
    },
    z.refine((v) => v.type !== 'workflow' || workflowOf(v.workflow) !== null, {
      error: 'yaml',
      path: ['workflow'],
    }),
    z.refine((v) => v.kind !== 'cron' || v.cron_expression.trim() !== '', {
      error: 'required',
      path: ['cron_expression'],
    }),
    z.refine((v) => !isRepeated(v.kind) || +v.every_s > 0, { error: 'positive', path: ['every_s'] }),
    z.refine((v) => v.kind !== 'once' || v.at !== '', { error: 'required', path: ['at'] }),
    z.refine((v) => v.kind !== 'event' || v.event_type.trim() !== '', {
      error: 'required',
      path: ['event_type'],
    }),
    z.refine((v) => v.kind !== 'after' || v.upstream.trim() !== '', {
      error: 'required',
      path: ['upstream'],
    }),
    ({ value, issues }) => {
      for (const [at, row] of value.kind === 'several' ? value.schedules.entries() : []) {
        const wrong = wrongIn(row);
        if (wrong)
          issues.push({ code: 'custom', input: value, message: wrong[1], path: ['schedules', at, wrong[0]] });
      }
    },
    ({ value, issues }) => {
      for (const [at, row] of value.rules.entries()) {
        const wrong = wrongInRule(row, value.rules);
        if (wrong)
          issues.push({ code: 'custom', input: value, message: wrong[1], path: ['rules', at, wrong[0]] });
      }
    },
    ({ value, issues }) => {
      for (const [at, row] of value.waits.entries()) {
        const wrong = wrongInWait(row);
        if (wrong)
          issues.push({ code: 'custom', input: value, message: wrong[1], path: ['waits', at, wrong[0]] });
      }
      const wrong = wrongLimit(value);
      if (wrong) issues.push({ code: 'custom', input: value, message: wrong, path: ['wait_limit'] });
    },
    z.refine((v) => !isPresumable(v) || isWhole(v.presume_dead_s, 0, 86_400), {
      error: 'range:0:86400',
      path: ['presume_dead_s'],
    }),
    z.refine((v) => !limitsRuns(v.overlap_policy) || isWhole(v.max_running, 1, RUNNING_MAX), {
      error: `range:1:${RUNNING_MAX}`,
      path: ['max_running'],
    }),
    z.refine((v) => v.overlap_policy !== 'queue_all' || isWhole(v.queue_max, 1, QUEUED_MAX), {
      error: `range:1:${QUEUED_MAX}`,
      path: ['queue_max'],
    }),
    z.refine((v) => v.tell !== 'own' || v.tell_on.length > 0, { error: 'tick_any', path: ['tell_on'] }),
  );

export type FormValues = z.infer<typeof formSchema>;

export const DEFAULTS: FormValues = {
  name: '',
  job_id: '',
  namespace: NO_NAMESPACE,
  description: '',
  user_id: '',
  type: 'shell',
  command: '',
  handler: '',
  ...SCRIPT_DEFAULTS,
  ...CONTAINER_DEFAULTS,
  ...HTTP_DEFAULTS,
  ...ISOLATION_DEFAULTS,
  workflow: '',
  labels: '',
  env: '',
  parameters: '',
  rules: [],
  enabled: true,
  kind: 'cron',
  cron_expression: '',
  time_zone: 'UTC',
  every_s: '300',
  at: '',
  upstream: '',
  on: 'success',
  event_type: '',
  event_source: '',
  event_filter: '',
  event_parameters: '',
  schedules: [],
  ...WAIT_DEFAULTS,
  misfire_policy: 'latest',
  misfire_grace: '60',
  catch_up_window: '3600',
  catch_up_max: '100',
  overlap_policy: 'allow',
  max_running: '1',
  queue_max: '100',
  concurrency_group: '',
  dst_gap: 'fire',
  dst_repeat: 'auto',
  executor_selector: '',
  executor_id: '',
  ...FAN_OUT_DEFAULTS,
  routing: 'round_robin',
  routing_key: '',
  priority: '0',
  timeout: '3600',
  queue_timeout: '0',
  kill_grace: '10',
  retry_count: '0',
  retry_interval: '60',
  retry_backoff: 'fixed',
  retry_intervals: '',
  retry_on: '',
  no_retry_on: '',
  on_lost: 'retry',
  presume_dead_s: '0',
  pause_after_failures: '0',
  retention_days: '0',
  ...NOTIFY_DEFAULTS,
};

// Reads the workflow of the form, which is YAML; null if it is not an object.
export function workflowOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

// Reads "NAME=value" lines; null if a line has another form or repeats a name.
export function linesOf(text: string): Record<string, string> | null {
  const out: Record<string, string> = {};
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const at = line.indexOf('=');
    const name = line.slice(0, at).trim();
    if (at < 1 || name === '' || name in out) return null;
    out[name] = line.slice(at + 1).trim();
  }
  return out;
}

// Reads seconds separated by commas or spaces; null if one of them is not a valid number.
export function intervalsOf(text: string): number[] | null {
  const words = text.split(/[\s,]+/).filter((word) => word !== '');
  return words.length <= INTERVALS_MAX && words.every((word) => /^\d{1,5}$/.test(word) && +word <= 86_400)
    ? words.map(Number)
    : null;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

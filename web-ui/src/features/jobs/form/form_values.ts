// Converts between a job's definition, the values of the form's fields, and YAML. Pure.
//
// A definition keeps all fields that the server sent, including those that the form does not show; the form
// overrides only its own fields.
import * as z from 'zod/mini';
import { parse, stringify } from 'yaml';
import type { FieldPath } from 'react-hook-form';
import type { Job, Schedule } from '../../../api/types';
import { parametersOf, parametersText, type Definition } from './definition';
import {
  TELL_DEFAULTS,
  notifyFrom,
  tellFieldOf,
  tellValuesOf,
  wrongLate,
  wrongMail,
} from './notifications_values';
import { definitionOfRules, ruleFieldOf, ruleRowsOf, rulesOf, wrongInRule } from './rule_values';
import { isLimited, rowFieldOf, rowOf, scheduleOf, startOf, wrongIn } from './schedule_values';
import {
  CONTAINER_DEFAULTS,
  containerFieldOf,
  containerFrom,
  containerValuesOf,
  isImage,
} from '../container/container_values';
import { HTTP_DEFAULTS, httpFieldOf, httpFrom, httpValuesOf, wrongInHttp } from '../http/http_values';
import {
  ISOLATION_DEFAULTS,
  isIsolated,
  isolationValuesOf,
  limitFieldOf,
  limitsFrom,
  wrongInIsolation,
} from '../isolation/isolation_values';
import {
  SCRIPT_DEFAULTS,
  conditionsOf,
  scriptFieldOf,
  scriptFrom,
  scriptValuesOf,
} from '../script/script_values';

export { parametersOf } from './definition';

export const KINDS = ['cron', 'rate', 'delay', 'once', 'after', 'manual', 'several'] as const;
export const OVERLAP_POLICIES = [
  'allow',
  'skip',
  'queue_one',
  'queue_all',
  'cancel_previous',
  'terminate_previous',
] as const;
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
const NO_NAMESPACE = 'default';

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
    limit_memory_mb: z.string(),
    limit_cpu: z.string(),
    limit_pids: z.string(),
    limit_open_files: z.string(),
    limit_file_size_mb: z.string(),
    limit_enforce: z.string(),
    run_as: z.string(),
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
        kept: z.string(),
      }),
    ),
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

const TEXTS = [
  'name',
  'description',
  'type',
  'misfire_policy',
  'overlap_policy',
  'dst_gap',
  'dst_repeat',
  'executor_selector',
  'executor_id',
  'routing',
  'retry_backoff',
  'on_lost',
  'time_zone',
] as const;
const NUMBERS = [
  'priority',
  'timeout',
  'queue_timeout',
  'kill_grace',
  'retry_count',
  'retry_interval',
  'misfire_grace',
  'catch_up_window',
  'catch_up_max',
] as const;
// Fields of a response that are not part of the definition.
const NOT_DEFINED = new Set([
  'version',
  'state',
  'pause_reason',
  'next_fire_time',
  'schedule_problem',
  'problem',
  'create_time',
  'update_time',
  'allowed_actions',
]);

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
  schedules: [],
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
  retention_days: '0',
  ...TELL_DEFAULTS,
};

// Each node begins with its id and its job. The server sends the fields in alphabetical order.
function readable(workflow: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(workflow.nodes)) return workflow;
  const nodes = (workflow.nodes as unknown[]).map((node) => {
    if (!isObject(node)) return node;
    const { id, job, ...rest } = node;
    return { id, job, ...rest };
  });
  return { ...workflow, nodes };
}

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

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const linesFrom = (value: unknown) =>
  isObject(value)
    ? Object.entries(value)
        .map(([name, one]) => `${name}=${String(one)}`)
        .join('\n')
    : '';

export function definitionOf(job: Job): Definition {
  return normalised(Object.fromEntries(Object.entries(job).filter(([name]) => !NOT_DEFINED.has(name))));
}

// Makes both views of the schedules, cron_expression and schedules, agree.
export function normalised(definition: Definition): Definition {
  const zone = typeof definition.time_zone === 'string' ? definition.time_zone : 'UTC';
  const given = Array.isArray(definition.schedules) ? (definition.schedules as unknown[]) : [];
  const short = definition.cron_expression;
  const schedules: unknown[] =
    given.length === 0 && typeof short === 'string'
      ? [{ kind: 'cron', cron_expression: short, time_zone: zone }]
      : given.map((one) => {
          if (!isObject(one)) return one;
          const { schedule_id: _id, ...rest } = one;
          return rest;
        });
  return { ...definition, time_zone: zone, schedules, cron_expression: shortView(schedules, zone) };
}

function shortView(schedules: unknown[], zone: string): string | null {
  const [only] = schedules;
  if (schedules.length !== 1 || !isObject(only) || only.kind !== 'cron' || isLimited(only)) return null;
  return (only.time_zone ?? zone) === zone ? String(only.cron_expression) : null;
}

export function valuesOf(definition: Definition): FormValues {
  const full = normalised(definition);
  const values: FormValues = { ...DEFAULTS };
  for (const name of TEXTS) if (typeof full[name] === 'string') values[name] = full[name];
  for (const name of [...NUMBERS, 'max_running', 'queue_max', 'retention_days'] as const)
    if (typeof full[name] === 'number') values[name] = String(full[name]);
  if (typeof full.job_id === 'string') values.job_id = full.job_id;
  if (typeof full.namespace === 'string') values.namespace = full.namespace;
  if (typeof full.command === 'string') values.command = full.command;
  if (typeof full.handler === 'string') values.handler = full.handler;
  if (isObject(full.workflow)) values.workflow = stringify(readable(full.workflow), { lineWidth: 0 });
  if (typeof full.routing_key === 'string') values.routing_key = full.routing_key;
  if (typeof full.enabled === 'boolean') values.enabled = full.enabled;
  if (typeof full.concurrency_group === 'string') values.concurrency_group = full.concurrency_group;
  if (typeof full.user_id === 'string') values.user_id = full.user_id;
  for (const name of ['retry_intervals', 'retry_on', 'no_retry_on'] as const) {
    const list = full[name];
    if (Array.isArray(list)) values[name] = list.join(', ');
  }
  values.labels = linesFrom(full.labels);
  values.env = linesFrom(full.env);
  values.rules = ruleRowsOf(full);
  const ruled = rulesOf(full.parameter_rules);
  const free = Object.entries(isObject(full.parameters) ? full.parameters : {}).filter(
    ([name]) => !(name in ruled),
  );
  values.parameters = parametersText(Object.fromEntries(free));
  return {
    ...values,
    ...scriptValuesOf(full.script),
    ...containerValuesOf(full.container),
    ...isolationValuesOf(full),
    ...httpValuesOf(full.http),
    ...tellValuesOf(full.notify),
    ...scheduleValues(full.schedules as Schedule[], values.time_zone),
  };
}

function scheduleValues(schedules: Schedule[], zone: string): Partial<FormValues> {
  const [only] = schedules;
  if (!only) return { kind: 'manual' };
  const several = {
    kind: 'several' as const,
    schedules: (schedules as unknown[]).map((one) => rowOf(one, zone)),
  };
  if (schedules.length > 1) return several;
  if (isLimited({ ...only })) return several;
  if (only.kind === 'cron' && (only.time_zone ?? zone) === zone) {
    return { kind: 'cron', cron_expression: only.cron_expression };
  }
  if ((only.kind === 'rate' || only.kind === 'delay') && startOf({ ...only }) === '')
    return { kind: only.kind, every_s: String(only.every_ms / 1000) };
  if (only.kind === 'once' && typeof only.at === 'string') return { kind: 'once', at: only.at };
  if (only.kind === 'after') return { kind: 'after', upstream: only.job, on: only.on ?? DEFAULTS.on };
  return several; // has a time zone or a start of its own, or a relative time
}

export function schedulesOf(values: FormValues): unknown[] {
  switch (values.kind) {
    case 'cron':
      return [
        { kind: 'cron', cron_expression: values.cron_expression.trim(), time_zone: values.time_zone.trim() },
      ];
    case 'rate':
    case 'delay':
      return [{ kind: values.kind, every_ms: Math.round(+values.every_s * 1000) }];
    case 'once':
      return [{ kind: 'once', at: values.at.trim() }];
    case 'after':
      return [{ kind: 'after', job: values.upstream.trim(), on: values.on }];
    case 'manual':
      return [];
    case 'several':
      return values.schedules.map((row) => scheduleOf(row, values.time_zone.trim()));
  }
}

// Returns `base` overridden by the values of the form.
export function definitionFrom(values: FormValues, base: Definition): Definition {
  const out: Definition = { ...base };
  for (const name of TEXTS) out[name] = values[name].trim();
  for (const name of NUMBERS) out[name] = Number(values[name]);
  out.enabled = values.enabled;
  if (values.type === 'shell') out.command = values.command;
  else delete out.command;
  if (values.type === 'handler') out.handler = values.handler.trim();
  else delete out.handler;
  if (values.type === 'script') out.script = scriptFrom(values, base.script);
  else delete out.script;
  if (values.type === 'container') out.container = containerFrom(values, base.container);
  else delete out.container;
  if (values.type === 'http') out.http = httpFrom(values, base.http);
  else delete out.http;
  const limits = isIsolated(values.type) ? limitsFrom(values, base.limits) : null;
  if (limits) out.limits = limits;
  else delete out.limits;
  const user = isIsolated(values.type) && values.type !== 'container' ? values.run_as.trim() : '';
  if (user) out.run_as = user;
  else delete out.run_as;
  if (values.type === 'workflow') out.workflow = workflowOf(values.workflow) ?? {};
  else delete out.workflow;
  if (values.job_id) out.job_id = values.job_id;
  else delete out.job_id;
  if (values.routing === 'consistent_hash') out.routing_key = values.routing_key.trim();
  else delete out.routing_key;
  out.namespace = values.namespace.trim() || NO_NAMESPACE;
  out.labels = linesOf(values.labels) ?? {};
  // The form does not show it for a request, which has no environment.
  out.env = values.type === 'http' ? {} : (linesOf(values.env) ?? {});
  const { rules, defaults } = definitionOfRules(values.rules);
  out.parameters = { ...parametersOf(values.parameters), ...defaults };
  if ('parameter_rules' in base || values.rules.length > 0) out.parameter_rules = rules;
  const days = Number(values.retention_days);
  if ('retention_days' in base || days > 0) out.retention_days = days;
  const notify = notifyFrom(values, base.notify);
  if ('notify' in base || Object.keys(notify).length > 0) out.notify = notify;
  if (values.user_id) out.user_id = values.user_id;
  // Fields that the form does not show with this policy: max_running must then be 1, queue_max has no effect.
  const running = limitsRuns(values.overlap_policy) ? Number(values.max_running) : 1;
  if ('max_running' in base || running !== 1) out.max_running = running;
  if (values.overlap_policy === 'queue_all') out.queue_max = Number(values.queue_max);
  const group = values.concurrency_group.trim();
  if ('concurrency_group' in base || group !== '') out.concurrency_group = group;
  const between = intervalsOf(values.retry_intervals) ?? [];
  if ('retry_intervals' in base || between.length > 0) out.retry_intervals = between;
  for (const name of ['retry_on', 'no_retry_on'] as const) {
    const found = conditionsOf(values[name]) ?? [];
    if (name in base || found.length > 0) out[name] = found;
  }
  out.schedules = schedulesOf(values);
  delete out.cron_expression;
  return normalised(out);
}

// Returns the field that shows the server's error at `pointer`. `several`: each schedule has fields
// of its own. `rules`: the names of the parameters with a rule, in the order of their rows.
export function fieldOf(
  pointer: string,
  several = false,
  rules: readonly string[] = [],
): FieldPath<FormValues> | null {
  const [, first, second, last] = pointer.split('/');
  if (first === 'schedules' && several && /^\d+$/.test(second ?? ''))
    return `schedules.${Number(second)}.${rowFieldOf(last)}`;
  if (first === 'notify') return tellFieldOf(second);
  if (first === 'script') return scriptFieldOf(second);
  if (first === 'container') return containerFieldOf(second);
  if (first === 'limits') return limitFieldOf(second);
  if (first === 'http') return httpFieldOf(second, last);
  if (first === 'parameter_rules') return ruleFieldOf(rules, second, last);
  if (first === 'parameters' && second !== undefined && rules.includes(second))
    return `rules.${rules.indexOf(second)}.default`;
  if (first === 'schedules') {
    if (last === 'cron_expression') return 'cron_expression';
    if (last === 'time_zone') return 'time_zone';
    if (last === 'every_ms') return 'every_s';
    if (last === 'at') return 'at';
    if (last === 'job') return 'upstream';
    if (last === 'on') return 'on';
    return 'kind';
  }
  return first !== undefined && first in DEFAULTS ? (first as keyof FormValues) : null;
}

export interface Difference {
  field: string;
  base: unknown;
  mine: unknown;
  theirs: unknown;
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

// The fields that differ between `mine` and `theirs`, with their values in `base`.
export function differences(base: Definition, mine: Definition, theirs: Definition): Difference[] {
  const fields = [
    ...new Set([...Object.keys(base), ...Object.keys(mine), ...Object.keys(theirs)]),
  ].toSorted();
  return fields
    .map((field) => ({ field, base: base[field], mine: mine[field], theirs: theirs[field] }))
    .filter((one) => !same(one.mine, one.theirs));
}

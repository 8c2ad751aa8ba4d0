// Converts between a job's definition, the values of the form's fields, and YAML. Pure.
//
// A definition keeps all fields that the server sent, including those that the form does not show; the form
// overrides only its own fields.
import { stringify } from 'yaml';
import type { FieldPath } from 'react-hook-form';
import type { Job, Schedule } from '../../../api/types';
import { parametersOf, parametersText, type Definition } from './definition';
import { notifyFrom, notifyFieldOf, notifyValuesOf } from './notifications_values';
import { definitionOfRules, ruleFieldOf, ruleRowsOf, rulesOf } from '../rules/rule_values';
import { triggerOf } from '../events/trigger_values';
import { isLimited, rowFieldOf, rowOf, scheduleOf, startOf } from './schedule_values';
import { containerFieldOf, containerFrom, containerValuesOf } from '../container/container_values';
import { fanOutFieldOf, fanOutFrom, fanOutValuesOf } from '../fan_out/fan_out_values';
import { httpFieldOf, httpFrom, httpValuesOf } from '../http/http_values';
import { isIsolated, isolationValuesOf, limitFieldOf, limitsFrom } from '../isolation/isolation_values';
import { waitFieldOf, waitValuesOf, waitsFrom } from '../waits/waits_values';
import { conditionsOf, scriptFieldOf, scriptFrom, scriptValuesOf } from '../script/script_values';
import {
  DEFAULTS,
  type FormValues,
  NO_NAMESPACE,
  intervalsOf,
  isObject,
  isPresumable,
  limitsRuns,
  linesOf,
  workflowOf,
} from './form_schema';

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
  'paused_by',
  'next_fire_time',
  'schedule_problem',
  'problem',
  'create_time',
  'update_time',
  'allowed_actions',
  'warnings',
]);

// Each node begins with its id and its job. The server sends the fields in alphabetical order.
export function readable(workflow: unknown): unknown {
  if (!isObject(workflow) || !Array.isArray(workflow.nodes)) return workflow;
  const nodes = (workflow.nodes as unknown[]).map((node) => {
    if (!isObject(node)) return node;
    const { id, job, ...rest } = node;
    return { id, job, ...rest };
  });
  return { ...workflow, nodes };
}

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
  for (const name of [
    ...NUMBERS,
    'max_running',
    'queue_max',
    'retention_days',
    'presume_dead_s',
    'pause_after_failures',
  ] as const)
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
    ...fanOutValuesOf(full),
    ...waitValuesOf(full),
    ...httpValuesOf(full.http),
    ...notifyValuesOf(full.notify),
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
  if (only.kind === 'event')
    return {
      kind: 'event',
      event_type: only.type,
      event_source: only.source ?? '',
      event_filter: only.filter ?? '',
      event_parameters: parametersText(only.parameters),
    };
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
    case 'event':
      return [
        triggerOf({
          type: values.event_type,
          source: values.event_source,
          filter: values.event_filter,
          parameters: values.event_parameters,
        }),
      ];
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
  const onHost = isIsolated(values.type) && values.type !== 'container';
  for (const name of ['run_as', 'working_directory'] as const) {
    const text = onHost ? values[name].trim() : '';
    if (text) out[name] = text;
    else delete out[name];
  }
  const encoding = isIsolated(values.type) ? values.output_encoding.trim() : '';
  if (encoding) out.output_encoding = encoding;
  else delete out.output_encoding;
  delete out.shards;
  delete out.broadcast;
  Object.assign(out, fanOutFrom(values));
  delete out.waits_for;
  delete out.wait_limit_s;
  Object.assign(out, waitsFrom(values));
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
  const presumed = isPresumable(values) ? Number(values.presume_dead_s) : 0;
  if (presumed > 0) out.presume_dead_s = presumed;
  else delete out.presume_dead_s;
  const failures = Number(values.pause_after_failures);
  if (failures > 0) out.pause_after_failures = failures;
  else delete out.pause_after_failures;
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
  const [, first, second, last, part] = pointer.split('/');
  if (first === 'schedules' && several && /^\d+$/.test(second ?? ''))
    return `schedules.${Number(second)}.${rowFieldOf(last)}`;
  if (first === 'waits_for') return waitFieldOf(second, last, part);
  if (first === 'wait_limit_s') return 'wait_limit';
  if (first === 'notify') return notifyFieldOf(second);
  if (first === 'script') return scriptFieldOf(second);
  if (first === 'container') return containerFieldOf(second);
  if (first === 'limits') return limitFieldOf(second);
  if (first === 'http') return httpFieldOf(second, last);
  if (first === 'shards' || first === 'broadcast') return fanOutFieldOf(first, second);
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
    if (last === 'type' || last === 'source' || last === 'filter' || last === 'parameters')
      return `event_${last}`;
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

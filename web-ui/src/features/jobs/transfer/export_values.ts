// Writes jobs as YAML in the form of `carillon export`: without defaults and without owners. Pure.
import { stringify } from 'yaml';
import type { Job } from '../../../api/types';
import type { Definition } from '../form/definition';
import { definitionOf } from '../form/form_values';

// Defaults of a job's fields (JobWrite in scheduler/openapi/openapi.yaml).
const DEFAULTS: Definition = {
  type: 'shell',
  command: '',
  schedules: [],
  time_zone: 'UTC',
  timeout: 3600,
  kill_grace: 10,
  queue_timeout: 0,
  retry_count: 0,
  retry_interval: 60,
  retry_backoff: 'fixed',
  retry_intervals: [],
  retry_on: [],
  no_retry_on: [],
  on_lost: 'retry',
  presume_dead_s: 0,
  pause_after_failures: 0,
  priority: 0,
  enabled: true,
  misfire_policy: 'latest',
  misfire_grace: 60,
  catch_up_window: 3600,
  catch_up_max: 100,
  overlap_policy: 'allow',
  max_running: 1,
  queue_max: 100,
  waits_for: [],
  wait_limit_s: 0,
  concurrency_group: '',
  dst_gap: 'fire',
  dst_repeat: 'auto',
  routing: 'round_robin',
  routing_key: '',
  executor_id: '',
  executor_selector: '',
  parameters: {},
  parameter_rules: {},
  env: {},
  labels: {},
  retention_days: 0,
  notify: {},
  description: '',
  namespace: 'default',
  cron_expression: null,
};
// The fields that come first in a file, because readers look for them first.
const FIRST = [
  'job_id',
  'name',
  'namespace',
  'description',
  'labels',
  'type',
  'command',
  'script',
  'http',
  'handler',
  'container',
  'cron_expression',
  'schedules',
  'time_zone',
];
const AT_THE_EPOCH = /^1970-01-01T00:00:00(\.0+)?Z$/;

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
const place = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);

function asWritten(job: Job): Definition {
  const full = definitionOf(job);
  const written = Object.entries(full).filter(
    ([name, value]) => name !== 'user_id' && !same(value, DEFAULTS[name]),
  );
  const zone = full.time_zone;
  const short = full.cron_expression !== null;
  return Object.fromEntries(
    written
      .filter(([name]) => !(short && name === 'schedules'))
      .map(([name, value]): [string, unknown] => [
        name,
        name === 'schedules' ? (value as Definition[]).map((one) => scheduleAsWritten(one, zone)) : value,
      ])
      .toSorted(([a], [b]) => place(a) - place(b) || (a < b ? -1 : 1)),
  );
}

const scheduleAsWritten = (schedule: Definition, zone: unknown): Definition =>
  Object.fromEntries(
    Object.entries(schedule).filter(
      ([name, value]) =>
        !(name === 'time_zone' && value === zone) &&
        !(name === 'start_time' && AT_THE_EPOCH.test(String(value))),
    ),
  );

export const yamlOfJobs = (jobs: readonly Job[]): string =>
  jobs.map((job) => '---\n' + stringify(asWritten(job), { lineWidth: 0 })).join('');

// Suggestions for a definition that is being written as YAML: fields, their words, ids of nodes and of jobs.
import { readJobs } from '../../../api/job_pages';
import type { components } from '../../../api/schema';
import { spotAt, type Spot } from '../../code/yaml_spot';
import type { Suggest, Suggestion } from '../../code/code_editor';

type Schemas = components['schemas'];
type FieldsOf<T> = readonly (keyof T & string)[];
type Node = Schemas['WorkflowNode'];
type Edge = Exclude<NonNullable<Node['after']>[number], string>;

const JOB: FieldsOf<Schemas['JobWrite']> = [
  ...([
    'name',
    'job_id',
    'namespace',
    'description',
    'type',
    'command',
    'script',
    'http',
    'handler',
  ] as const),
  ...(['container', 'workflow', 'limits', 'run_as', 'working_directory', 'output_encoding'] as const),
  ...([
    'cron_expression',
    'schedules',
    'time_zone',
    'enabled',
    'timeout',
    'kill_grace',
    'queue_timeout',
  ] as const),
  ...([
    'retry_count',
    'retry_interval',
    'retry_backoff',
    'retry_intervals',
    'retry_on',
    'no_retry_on',
  ] as const),
  ...(['on_lost', 'presume_dead_s', 'pause_after_failures', 'priority', 'misfire_policy'] as const),
  ...([
    'misfire_grace',
    'catch_up_window',
    'catch_up_max',
    'overlap_policy',
    'max_running',
    'queue_max',
    'waits_for',
  ] as const),
  ...(['wait_limit_s', 'concurrency_group', 'dst_gap', 'dst_repeat', 'routing', 'routing_key'] as const),
  ...(['executor_id', 'executor_selector', 'shards', 'broadcast', 'parameters', 'parameter_rules'] as const),
  ...(['env', 'labels', 'notify', 'retention_days', 'user_id'] as const),
];
const WORKFLOW: FieldsOf<Schemas['Workflow']> = ['max_parallel', 'nodes', 'finally_timeout', 'outputs'];
const RULES = [
  ...(['timeout', 'retry_count', 'retry_interval', 'retry_backoff', 'retry_intervals', 'retry_on'] as const),
  ...(['no_retry_on', 'on_lost', 'priority', 'executor_id', 'executor_selector'] as const),
  'concurrency_group',
] as const;
const NODE: FieldsOf<Node> = [
  ...(['id', 'job', 'task', 'approval', 'wait', 'after', 'trigger_rule', 'allow_failure'] as const),
  ...(['parameters', 'finally', 'over', 'as', 'collect'] as const),
  ...RULES,
];
const TASK: FieldsOf<Schemas['Task']> = [
  ...(['type', 'command', 'script', 'http', 'handler', 'container', 'env', 'limits', 'run_as'] as const),
  ...(['working_directory', 'output_encoding', 'kill_grace', 'routing', 'routing_key'] as const),
  'presume_dead_s',
  ...RULES,
];
const APPROVAL: FieldsOf<Schemas['Approval']> = ['message', 'timeout_s', 'on_timeout', 'by'];
const NODE_WAIT: FieldsOf<Schemas['NodeWait']> = ['until', 'day', 'for_s'];
const EDGE: FieldsOf<Edge> = ['node', 'on', 'if', 'recovers'];
const WAIT: FieldsOf<Schemas['UpstreamWait']> = ['job', 'in', 'on', 'window', 'which'];
const LIMITS: FieldsOf<Schemas['Limits']> = [
  'memory_mb',
  'cpu',
  'pids',
  'open_files',
  'file_size_mb',
  'enforce',
];
const TRUTHS = ['true', 'false'];
const JOBS = 'jobs'; // ids of jobs, which the server knows
const NODES = 'nodes'; // ids of the nodes in the text

// Below a path, from the job: the fields of an object, the words of a value, or which ids.
const FIELDS: Record<string, readonly string[]> = {
  '': JOB,
  limits: LIMITS,
  workflow: WORKFLOW,
  'workflow/nodes/-': NODE,
  'workflow/nodes/-/task': TASK,
  'workflow/nodes/-/approval': APPROVAL,
  'workflow/nodes/-/wait': NODE_WAIT,
  'workflow/nodes/-/after/-': EDGE,
  'waits_for/-': WAIT,
  'schedules/-': [
    'kind',
    'cron_expression',
    'time_zone',
    'every_ms',
    'at',
    'job',
    'on',
    'type',
    'source',
    'filter',
    'parameters',
  ],
};
const WORDS: Record<string, readonly string[] | typeof JOBS | typeof NODES> = {
  type: ['shell', 'script', 'http', 'handler', 'container', 'workflow', 'noop'],
  enabled: TRUTHS,
  retry_backoff: ['fixed', 'exponential'],
  on_lost: ['retry', 'fail', 'hold'],
  misfire_policy: ['skip', 'latest', 'all'],
  overlap_policy: ['allow', 'skip', 'queue_one', 'queue_all', 'cancel_previous', 'terminate_previous'],
  dst_gap: ['fire', 'skip'],
  dst_repeat: ['auto', 'both', 'early', 'late'],
  routing: ['round_robin', 'random', 'least_loaded', 'first_healthy', 'weighted', 'consistent_hash'],
  'workflow/nodes/-/job': JOBS,
  'workflow/nodes/-/trigger_rule': ['all', 'any'],
  'workflow/nodes/-/allow_failure': TRUTHS,
  'workflow/nodes/-/finally': TRUTHS,
  'workflow/nodes/-/task/type': ['shell', 'script', 'http', 'handler', 'container', 'noop'],
  'workflow/nodes/-/approval/on_timeout': ['refuse', 'approve'],
  'workflow/nodes/-/after': NODES,
  'workflow/nodes/-/after/-': NODES,
  'workflow/nodes/-/after/-/node': NODES,
  'workflow/nodes/-/after/-/on': ['success', 'failure', 'done'],
  'workflow/nodes/-/after/-/recovers': TRUTHS,
  'schedules/-/kind': ['cron', 'rate', 'delay', 'once', 'after', 'event'],
  'schedules/-/job': JOBS,
  'schedules/-/on': ['success', 'failure', 'done'],
  'waits_for/-/job': JOBS,
  'waits_for/-/in': JOBS,
};

const JOBS_MAX = 20;
const ID = /(?:^|[\s{,])id:\s*["']?([a-z0-9][a-z0-9_-]*)/g;

const idsIn = (text: string): string[] => [...text.matchAll(ID)].map((match) => match[1]!);

// The ids of other nodes than the one that is being written, whose id is the last one before this place.
function nodesAround(text: string, position: number): string[] {
  const own = idsIn(text.slice(0, position)).at(-1);
  return [...new Set(idsIn(text))].filter((id) => id !== own);
}

export interface Offer {
  from: number;
  word: string;
  options: Suggestion[];
  isValue: boolean;
  jobs: boolean; // ids of jobs come from the server
}

// `within`: "workflow" if the text is only that field of the job. Pure.
export function offerAt(text: string, position: number, within: '' | 'workflow'): Offer | null {
  const spot = spotAt(text, position);
  if (!spot) return null;
  const path = [...(within ? [within] : []), ...spot.path].join('/');
  const words = spot.wants === 'key' ? undefined : WORDS[path];
  const options: Suggestion[] = [];
  if (words === NODES) options.push(...nodesAround(text, position).map((label) => ({ label })));
  else if (words !== JOBS && words) options.push(...words.map((label) => ({ label })));
  if (spot.wants !== 'value') options.push(...fieldsAt(path, spot));
  return {
    from: spot.from,
    word: spot.word,
    options,
    isValue: spot.wants === 'value',
    jobs: words === JOBS,
  };
}

const fieldsAt = (path: string, spot: Spot): Suggestion[] =>
  (FIELDS[path] ?? [])
    .filter((name) => !spot.siblings.includes(name))
    .map((name) => ({ label: name, apply: name + ': ' }));

// Where nothing was typed yet, names of fields would come with every new line, so they come on demand.
export const suggestIn =
  (within: '' | 'workflow'): Suggest =>
  async (text, position, asked) => {
    const offer = offerAt(text, position, within);
    if (!offer || (!asked && offer.word === '' && !offer.isValue)) return null;
    const { from, word, jobs } = offer;
    const found = jobs ? await jobsWith(word) : { options: offer.options, isWhole: true };
    const isDone = found.options.length === 1 && found.options[0]!.label === word;
    return found.options.length === 0 || isDone ? null : { from, ...found };
  };

async function jobsWith(word: string) {
  const query = { ...(word ? { q: word } : {}), page_size: JOBS_MAX };
  const { items, next_page_token } = await readJobs(query, new AbortController().signal);
  return {
    options: items.map(({ job_id, name }) => ({ label: job_id, detail: name })),
    isWhole: next_page_token === null,
  };
}

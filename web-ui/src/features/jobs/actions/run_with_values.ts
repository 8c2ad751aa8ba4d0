// Values of a manual run that override those of the job. Pure.
import './texts.en';
import type { Job, ParameterRule, Run } from '../../../api/types';
import { parametersOf } from '../form/definition';
import { rulesOf, textOfValue, valueOfText } from '../rules/rule_values';

export interface RunWith {
  ruled: Record<string, string>; // the parameters with a rule, as entered; empty: not given
  parameters: string; // the others, as JSON
  executor_id: string;
  priority: string;
}
type Problem = { key: string; names?: string };
// The invalid fields by name. The value is the key of the text that describes the problem.
export type Wrong = Partial<Record<keyof Omit<RunWith, 'ruled'>, Problem>> & {
  ruled?: Record<string, Problem>;
};

const PRIORITY_MAX = 100;
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

export const rulesOfJob = (job: Job): Record<string, ParameterRule> => rulesOf(job.parameter_rules);

// Returns the initial values: those of the job. The parameters and the priority of an earlier run override
// them. The executor of the earlier run is not used, because it is the one that ran the run, not the one that
// was requested.
export function startOf(job: Job, run?: Run): RunWith {
  const rules = rulesOfJob(job);
  const all = { ...job.parameters, ...run?.parameters };
  const free = Object.entries(all).filter(([name]) => !(name in rules));
  return {
    ruled: Object.fromEntries(Object.keys(rules).map((name) => [name, textOfValue(all[name])])),
    parameters: free.length > 0 ? JSON.stringify(Object.fromEntries(free), null, 2) : '',
    executor_id: '',
    priority: String(run?.priority ?? job.priority),
  };
}

// Returns the key of the text that says why no executor can be chosen for a run of the job; undefined if one can.
export function whyNoExecutor(job: Job): string | undefined {
  if (job.type === 'workflow') return 'run_with.executor_of_nodes';
  return job.shards || job.broadcast ? 'run_with.executor_of_shards' : undefined;
}

// Returns the value of a parameter with a rule; undefined if it is not given. An empty text is given only if it
// replaces a default. An unchecked box is a value where one is required.
function givenValue(rule: ParameterRule, text: string, preset: unknown): unknown {
  if (rule.type === 'boolean') return valueOfText('boolean', text || (rule.required ? 'false' : ''));
  if (text === '' && (rule.type ?? 'string') === 'string') return preset === undefined ? undefined : '';
  return text.trim() === '' ? undefined : valueOfText(rule.type, text);
}

function wrongRuled(values: RunWith, job: Job): Record<string, Problem> {
  const wrong: Record<string, Problem> = {};
  for (const [name, rule] of Object.entries(rulesOfJob(job))) {
    const text = values.ruled[name] ?? '';
    const value = givenValue(rule, text, job.parameters[name]);
    if (value === undefined) {
      if (text.trim() !== '') wrong[name] = { key: `run_with.of_${rule.type}` };
      else if (rule.required) wrong[name] = { key: 'run_with.required' };
    } else if (rule.choices && rule.choices.length > 0 && !rule.choices.some((one) => one === value))
      wrong[name] = { key: 'run_with.no_choice' };
  }
  return wrong;
}

export function wrongIn(values: RunWith, job: Job): Wrong {
  const wrong: Wrong = {};
  const rules = rulesOfJob(job);
  const ruled = wrongRuled(values, job);
  if (Object.keys(ruled).length > 0) wrong.ruled = ruled;
  const parameters = parametersOf(values.parameters);
  const names = Object.keys(parameters ?? {});
  const twice = names.filter((name) => name in rules);
  const left = Object.keys(job.parameters).filter((name) => !(name in rules) && !names.includes(name));
  if (parameters === null) wrong.parameters = { key: 'run_with.no_object' };
  else if (twice.length > 0) wrong.parameters = { key: 'run_with.has_field', names: twice.join(', ') };
  else if (left.length > 0) wrong.parameters = { key: 'run_with.kept', names: left.join(', ') };
  const priority = values.priority.trim();
  if (priority !== '' && !(/^\d+$/.test(priority) && +priority <= PRIORITY_MAX))
    wrong.priority = { key: 'run_with.whole' };
  return wrong;
}

const pointerOf = (name: string) => '/parameters/' + name.replaceAll('~', '~0').replaceAll('/', '~1');

// Returns the JSON pointers of the errors that the form shows at its free parameters. An error is about all
// parameters or about one.
export const pointersOf = (values: RunWith): string[] => [
  '/parameters',
  ...Object.keys(parametersOf(values.parameters) ?? {}).map(pointerOf),
];
export const ruledPointersOf = (values: RunWith): string[] => Object.keys(values.ruled).map(pointerOf);

// Returns only the values that differ from those of the job. The server takes the other values from the job.
export function bodyOf(values: RunWith, job: Job): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const ruled = Object.entries(rulesOfJob(job)).map(([name, rule]): [string, unknown] => [
    name,
    givenValue(rule, values.ruled[name] ?? '', job.parameters[name]),
  ]);
  const given = [...Object.entries(parametersOf(values.parameters) ?? {}), ...ruled].filter(
    ([name, value]) => value !== undefined && !same(value, job.parameters[name]),
  );
  if (given.length > 0) body.parameters = Object.fromEntries(given);
  if (values.executor_id) body.executor_id = values.executor_id;
  const priority = values.priority.trim();
  if (priority !== '' && +priority !== job.priority) body.priority = +priority;
  return body;
}

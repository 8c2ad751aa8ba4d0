// Values of a manual run that override those of the job. Pure.
import './texts.en';
import type { Job, Run } from '../../../api/types';
import { parametersOf } from '../form/form_values';

export interface RunWith {
  parameters: string;
  executor_id: string;
  priority: string;
}
// The invalid fields by name. The value is the key of the text that describes the problem.
export type Wrong = Partial<Record<keyof RunWith, { key: string; names?: string }>>;

const PRIORITY_MAX = 100;
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

// Returns the initial values: those of the job. The parameters and the priority of an earlier run override
// them. The executor of the earlier run is not used, because it is the one that ran the run, not the one that
// was requested.
export function startOf(job: Job, run?: Run): RunWith {
  const parameters = { ...job.parameters, ...run?.parameters };
  return {
    parameters: Object.keys(parameters).length > 0 ? JSON.stringify(parameters, null, 2) : '',
    executor_id: '',
    priority: String(run?.priority ?? job.priority),
  };
}

export function wrongIn(values: RunWith, job: Job): Wrong {
  const wrong: Wrong = {};
  const parameters = parametersOf(values.parameters);
  const left = parameters ? Object.keys(job.parameters).filter((name) => !(name in parameters)) : [];
  if (parameters === null) wrong.parameters = { key: 'run_with.no_object' };
  else if (left.length > 0) wrong.parameters = { key: 'run_with.kept', names: left.join(', ') };
  const priority = values.priority.trim();
  if (priority !== '' && !(/^\d+$/.test(priority) && +priority <= PRIORITY_MAX))
    wrong.priority = { key: 'run_with.whole' };
  return wrong;
}

// Returns the JSON pointers of the errors that the form shows at its parameters. An error is about all
// parameters or about one.
export const pointersOf = (values: RunWith): string[] => [
  '/parameters',
  ...Object.keys(parametersOf(values.parameters) ?? {}).map(
    (name) => '/parameters/' + name.replaceAll('~', '~0').replaceAll('/', '~1'),
  ),
];

// Returns only the values that differ from those of the job. The server takes the other values from the job.
export function bodyOf(values: RunWith, job: Job): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const given = Object.entries(parametersOf(values.parameters) ?? {}).filter(
    ([name, value]) => !same(value, job.parameters[name]),
  );
  if (given.length > 0) body.parameters = Object.fromEntries(given);
  if (values.executor_id) body.executor_id = values.executor_id;
  const priority = values.priority.trim();
  if (priority !== '' && +priority !== job.priority) body.priority = +priority;
  return body;
}

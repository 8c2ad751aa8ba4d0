// Converts between the limits, user, directory and encoding of a definition and the fields of the form. Pure.
import type { Definition } from '../form/definition';

export const ENFORCE = ['required', 'best_effort'] as const;

export const ISOLATION_DEFAULTS = {
  limit_memory_mb: '',
  limit_cpu: '',
  limit_pids: '',
  limit_open_files: '',
  limit_file_size_mb: '',
  limit_enforce: 'required',
  run_as: '',
  working_directory: '',
  output_encoding: '',
};
export type IsolationValues = typeof ISOLATION_DEFAULTS;

// Each limit with its bounds.
export const LIMITS = [
  ['memory_mb', 4, 16_777_216],
  ['cpu', 0.01, 1024],
  ['pids', 1, 4_194_304],
  ['open_files', 16, 1_048_576],
  ['file_size_mb', 1, 16_777_216],
] as const;

const USER = /^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/;
// Not what the server refuses for other reasons, such as its length.
const DIRECTORY = /^(~$|~\/|\/)/;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// True if jobs of the type start processes, which may have limits.
export const isIsolated = (type: string): boolean => ['shell', 'script', 'container'].includes(type);

export function isolationValuesOf(definition: Definition): Partial<IsolationValues> {
  const values: Partial<IsolationValues> = {};
  for (const name of ['run_as', 'working_directory', 'output_encoding'] as const) {
    const text = definition[name];
    if (typeof text === 'string') values[name] = text;
  }
  const limits = definition.limits;
  if (!isObject(limits)) return values;
  for (const [name] of LIMITS) {
    const value = limits[name];
    if (typeof value === 'number' && value !== 0) values[`limit_${name}`] = String(value);
  }
  if (typeof limits.enforce === 'string') values.limit_enforce = limits.enforce;
  return values;
}

// Null if there are none. Other fields of `kept` stay.
export function limitsFrom(values: IsolationValues, kept: unknown): Definition | null {
  const limits: Definition = isObject(kept) ? { ...kept } : {};
  for (const [name] of LIMITS) {
    const text = values[`limit_${name}`].trim();
    if (text === '') delete limits[name];
    else limits[name] = Number(text);
  }
  if (!LIMITS.some(([name]) => name in limits)) return null;
  return { ...limits, enforce: values.limit_enforce };
}

// The fields that are not valid, each with the code of its error.
export function wrongInIsolation(values: IsolationValues): [keyof IsolationValues, string][] {
  const wrong: [keyof IsolationValues, string][] = [];
  for (const [name, least, most] of LIMITS) {
    const text = values[`limit_${name}`].trim();
    if (text === '') continue;
    const whole = name !== 'cpu';
    const valid = (whole ? /^\d+$/ : /^\d+(\.\d+)?$/).test(text) && +text >= least && +text <= most;
    if (!valid) wrong.push([`limit_${name}`, `${whole ? 'range' : 'between'}:${least}:${most}`]);
  }
  const user = values.run_as.trim();
  if (user !== '' && !USER.test(user)) wrong.push(['run_as', 'user']);
  const directory = values.working_directory.trim();
  if (directory !== '' && !DIRECTORY.test(directory)) wrong.push(['working_directory', 'directory']);
  return wrong;
}

// The field that shows the server's error at /limits/`part`.
export function limitFieldOf(part: string | undefined): keyof IsolationValues {
  const field = `limit_${part ?? ''}`;
  return field in ISOLATION_DEFAULTS ? (field as keyof IsolationValues) : 'limit_memory_mb';
}

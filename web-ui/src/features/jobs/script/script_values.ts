// Converts between the script of a definition and the fields of the form. Pure.
import type { Definition } from '../form/definition';

export const INTERPRETERS = ['sh', 'bash', 'python3', 'perl', 'node', 'php', 'pwsh'] as const;

export const SCRIPT_DEFAULTS = { script_interpreter: 'sh', script_body: '', script_args: '' };
export type ScriptValues = typeof SCRIPT_DEFAULTS;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function scriptValuesOf(script: unknown): Partial<ScriptValues> {
  if (!isObject(script)) return {};
  return {
    script_interpreter: String(script.interpreter ?? SCRIPT_DEFAULTS.script_interpreter),
    script_body: String(script.body ?? ''),
    script_args: Array.isArray(script.args) ? script.args.map(String).join('\n') : '',
  };
}

// A text area shows every line break as \n.
const shown = (text: string) => text.replace(/\r\n?/g, '\n');

// One argument a line. `kept`: the script before, whose arguments stay as they are if the field shows them: one
// may contain a line break.
export function scriptFrom(values: ScriptValues, kept: unknown): Definition {
  const before = isObject(kept) && Array.isArray(kept.args) ? kept.args.map(String) : null;
  const text = values.script_args.replace(/\n$/, '');
  const lines = text === '' ? [] : text.split('\n');
  const body =
    isObject(kept) && shown(String(kept.body)) === shown(values.script_body) ? kept.body : values.script_body;
  return {
    interpreter: values.script_interpreter,
    body,
    args: before && shown(before.join('\n')) === shown(values.script_args) ? before : lines,
  };
}

// The field that shows the server's error at /script/`part`.
export function scriptFieldOf(part: string | undefined): keyof ScriptValues {
  if (part === 'interpreter') return 'script_interpreter';
  return part === 'args' ? 'script_args' : 'script_body';
}

const CONDITION =
  /^(exit:[1-9]\d{0,2}(-[1-9]\d{0,2})?|signal|oom|timeout|spawn|http:(error|[1-5]xx|[1-5]\d\d(-[1-5]\d\d)?)|error:[\w.-]{1,48})$/;

// Reads conditions separated by commas or spaces; null if one of them is not valid.
export function conditionsOf(text: string): string[] | null {
  const words = text.split(/[\s,]+/).filter((word) => word !== '');
  return words.every((word) => CONDITION.test(word)) ? words : null;
}

// The trigger of a job, as fields of the form. Pure.
import { parametersOf, type Definition } from '../form/definition';

export interface Trigger {
  type: string;
  source: string; // empty: any
  filter: string; // empty: none
  parameters: string; // a JSON object, or empty
}

// Members that are left out mean "any source", "no filter" and "no parameters".
export function triggerOf({ type, source, filter, parameters }: Trigger): Definition {
  const values = parametersOf(parameters) ?? {};
  return {
    kind: 'event',
    type: type.trim(),
    ...(source.trim() === '' ? {} : { source: source.trim() }),
    ...(filter.trim() === '' ? {} : { filter: filter.trim() }),
    ...(Object.keys(values).length > 0 ? { parameters: values } : {}),
  };
}

// True if the draft can be tested.
export const isWhole = ({ type, parameters }: Trigger): boolean =>
  type.trim() !== '' && parametersOf(parameters) !== null;

export const isEvent = (schedule: unknown): boolean => (schedule as Definition | null)?.kind === 'event';

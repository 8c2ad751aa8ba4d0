// Converts between the fan-out of a definition (shards, broadcast) and the fields of the form. Pure.
import type { Definition } from '../form/definition';

export const FAN_OUTS = ['none', 'fixed', 'alive', 'broadcast'] as const;

export const FAN_OUT_DEFAULTS = {
  fan_out: 'none',
  shards_total: '2',
  shards_max: '',
  broadcast_wait_s: '60',
};
export type FanOutValues = typeof FAN_OUT_DEFAULTS;

export const PARTS_MAX = 1000;
const WAIT_MAX_S = 604_800;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isWhole = (text: string, least: number, most: number) =>
  /^\d+$/.test(text) && +text >= least && +text <= most;

export function fanOutValuesOf(definition: Definition): Partial<FanOutValues> {
  const { shards, broadcast } = definition;
  if (isObject(broadcast)) {
    const wait = broadcast.wait_s;
    return { fan_out: 'broadcast', ...(typeof wait === 'number' ? { broadcast_wait_s: String(wait) } : {}) };
  }
  if (!isObject(shards)) return {};
  const { total, max } = shards;
  const most = typeof max === 'number' ? { shards_max: String(max) } : {};
  if (total === 'alive') return { fan_out: 'alive', ...most };
  return { fan_out: 'fixed', shards_total: String(total), ...most };
}

// The total of a run may be a text with a placeholder, such as {{params.n}}.
export const isTemplate = (total: string): boolean => total.includes('{{');

function mostOf(values: FanOutValues): { max?: number } {
  const most = values.shards_max.trim();
  return most ? { max: Number(most) } : {};
}

// The fields of the definition that the choice sets. A workflow does not fan out.
export function fanOutFrom(values: FanOutValues & { type: string }): Definition {
  if (values.type === 'workflow') return {};
  switch (values.fan_out) {
    case 'fixed':
      if (!isTemplate(values.shards_total)) return { shards: { total: Number(values.shards_total) } };
      return { shards: { total: values.shards_total.trim(), ...mostOf(values) } };
    case 'alive':
      return { shards: { total: 'alive', ...mostOf(values) } };
    case 'broadcast':
      return { broadcast: { wait_s: Number(values.broadcast_wait_s) } };
    default:
      return {};
  }
}

// The fields that are not valid, each with the code of its error.
export function wrongInFanOut(values: FanOutValues & { type: string }): [keyof FanOutValues, string][] {
  if (values.type === 'workflow') return [];
  const [total, most, wait] = [
    values.shards_total.trim(),
    values.shards_max.trim(),
    values.broadcast_wait_s.trim(),
  ];
  const template = values.fan_out === 'fixed' && isTemplate(total);
  if (values.fan_out === 'fixed' && !template && !isWhole(total, 1, PARTS_MAX))
    return [['shards_total', `range:1:${PARTS_MAX}`]];
  if ((values.fan_out === 'alive' || template) && most !== '' && !isWhole(most, 1, PARTS_MAX))
    return [['shards_max', `range:1:${PARTS_MAX}`]];
  if (values.fan_out === 'broadcast' && !isWhole(wait, 0, WAIT_MAX_S))
    return [['broadcast_wait_s', `range:0:${WAIT_MAX_S}`]];
  return [];
}

// The field that shows the server's error at /shards/`part` or /broadcast/`part`.
export function fanOutFieldOf(first: string, part: string | undefined): keyof FanOutValues {
  if (first === 'broadcast') return part === 'wait_s' ? 'broadcast_wait_s' : 'fan_out';
  return part === 'total' ? 'shards_total' : part === 'max' ? 'shards_max' : 'fan_out';
}

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
  if (shards.total !== 'alive') return { fan_out: 'fixed', shards_total: String(shards.total) };
  return { fan_out: 'alive', shards_max: typeof shards.max === 'number' ? String(shards.max) : '' };
}

// The fields of the definition that the choice sets. A workflow does not fan out.
export function fanOutFrom(values: FanOutValues & { type: string }): Definition {
  if (values.type === 'workflow') return {};
  switch (values.fan_out) {
    case 'fixed':
      return { shards: { total: Number(values.shards_total) } };
    case 'alive': {
      const most = values.shards_max.trim();
      return { shards: { total: 'alive', ...(most ? { max: Number(most) } : {}) } };
    }
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
  if (values.fan_out === 'fixed' && !isWhole(total, 1, PARTS_MAX))
    return [['shards_total', `range:1:${PARTS_MAX}`]];
  if (values.fan_out === 'alive' && most !== '' && !isWhole(most, 1, PARTS_MAX))
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

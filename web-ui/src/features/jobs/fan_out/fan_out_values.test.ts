// The fan-out of a job in the fields of the form and on its page.
import '../../../../test_support/texts';
import i18next from 'i18next';
import { describe, expect, it } from 'vitest';
import type { Job } from '../../../api/types';
import { definitionFrom, fieldOf, valuesOf } from '../form/form_values';
import { DEFAULTS, formSchema } from '../form/form_schema';
import { fanOutFacts } from './fan_out_facts';

const job = { name: 'Close the day', type: 'shell', command: 'true' };
const DEFINITIONS = [
  { shards: { total: 8 } },
  { shards: { total: 'alive', max: 20 } },
  { shards: { total: 'alive', max: 1000 } },
  { shards: { total: '{{params.n}}', max: 20 } },
  { broadcast: { wait_s: 0 } },
];
const wrongAt = (changes: Partial<typeof DEFAULTS>) => {
  const values = { ...DEFAULTS, name: 'n', command: 'true', cron_expression: '@daily', ...changes };
  const checked = formSchema.safeParse(values);
  return checked.success ? [] : checked.error.issues.map((one) => one.path.join('.'));
};

describe('the fan-out of a job', () => {
  it('the form returns each form of it unchanged', () => {
    for (const fanOut of DEFINITIONS) {
      const { shards, broadcast } = definitionFrom(valuesOf({ ...job, ...fanOut }), { ...job, ...fanOut });
      expect({ shards, broadcast }).toEqual({ shards: undefined, broadcast: undefined, ...fanOut });
    }
    const plain = definitionFrom(valuesOf(job), job);
    expect('shards' in plain || 'broadcast' in plain).toBe(false);
  });

  it('another choice replaces the one before, and a workflow has none', () => {
    const sharded = { ...job, shards: { total: 8 } };
    const values = valuesOf(sharded);
    const everywhere = definitionFrom({ ...values, fan_out: 'broadcast' }, sharded);
    expect([everywhere.shards, everywhere.broadcast]).toEqual([undefined, { wait_s: 60 }]);
    expect('shards' in definitionFrom({ ...values, fan_out: 'none' }, sharded)).toBe(false);
    expect('shards' in definitionFrom({ ...values, type: 'workflow' }, sharded)).toBe(false);
  });

  it('the form validates the bounds', () => {
    expect(wrongAt({ fan_out: 'fixed', shards_total: '1000' })).toEqual([]);
    expect(wrongAt({ fan_out: 'fixed', shards_total: '0' })).toEqual(['shards_total']);
    expect(wrongAt({ fan_out: 'fixed', shards_total: 'n' })).toEqual(['shards_total']);
    expect(wrongAt({ fan_out: 'fixed', shards_total: ' {{params.n}}' })).toEqual([]);
    expect(wrongAt({ fan_out: 'fixed', shards_total: '{{params.n}}', shards_max: '0' })).toEqual([
      'shards_max',
    ]);
    expect(wrongAt({ fan_out: 'fixed', shards_total: '2', shards_max: '0' })).toEqual([]);
    expect(wrongAt({ fan_out: 'alive', shards_max: '' })).toEqual([]);
    expect(wrongAt({ fan_out: 'alive', shards_max: '1001' })).toEqual(['shards_max']);
    expect(wrongAt({ fan_out: 'broadcast', broadcast_wait_s: '-1' })).toEqual(['broadcast_wait_s']);
    expect(wrongAt({ fan_out: 'none', shards_total: 'x' })).toEqual([]);
  });

  it('pointers of the server lead to the fields', () => {
    expect(
      ['/shards/total', '/shards/max', '/shards', '/broadcast', '/broadcast/wait_s'].map((one) =>
        fieldOf(one),
      ),
    ).toEqual(['shards_total', 'shards_max', 'fan_out', 'fan_out', 'broadcast_wait_s']);
  });

  it('the page of the job says it in words', () => {
    const t = i18next.t.bind(i18next);
    const said = [...DEFINITIONS, {}].map((one) => fanOutFacts(one as Job, t)[0]?.[1]);
    expect(said).toEqual([
      '8 shards',
      'One shard for each executor alive, at most 20',
      'One shard for each executor alive',
      'As many shards as {{params.n}} says, at most 20',
      'Once on every host, waiting 0 s for each',
      undefined,
    ]);
  });
});

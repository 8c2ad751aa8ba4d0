import { describe, expect, it } from 'vitest';
import { isEvent, isWhole, triggerOf } from './trigger_values';

const none = { type: '', source: '', filter: '', parameters: '' };

describe('triggers', () => {
  it('a trigger leaves out what is not given, and trims what is', () => {
    expect(triggerOf({ ...none, type: ' order.* ' })).toEqual({ kind: 'event', type: 'order.*' });
    expect(
      triggerOf({
        type: 'order.paid',
        source: ' shop ',
        filter: ' data.amount > 9 ',
        parameters: '{"amount": "{{event.data.amount}}"}',
      }),
    ).toEqual({
      kind: 'event',
      type: 'order.paid',
      source: 'shop',
      filter: 'data.amount > 9',
      parameters: { amount: '{{event.data.amount}}' },
    });
  });

  it('a draft can be tested once it has a type and readable parameters', () => {
    expect(isWhole(none)).toBe(false);
    expect(isWhole({ ...none, type: '*' })).toBe(true);
    expect(isWhole({ ...none, type: '*', parameters: '[1]' })).toBe(false);
  });

  it('schedules of the kind event are triggers, others are not', () => {
    expect([{ kind: 'event' }, { kind: 'cron' }, null].map(isEvent)).toEqual([true, false, false]);
  });
});

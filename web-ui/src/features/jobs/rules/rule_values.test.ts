import { describe, expect, it } from 'vitest';
import { definitionFrom, fieldOf, valuesOf } from '../form/form_values';
import { DEFAULTS, formSchema } from '../form/form_schema';
import { EMPTY_RULE, definitionOfRules, ruleRowsOf, valueOfText, wrongInRule } from './rule_values';

const job = {
  job_id: 'export',
  name: 'Export',
  type: 'shell',
  command: 'true',
  time_zone: 'UTC',
  schedules: [],
  parameters: { rows: 100, free: 'x' },
  parameter_rules: {
    rows: { type: 'integer', description: 'Rows per file', choices: [100, 1000], required: false },
    day: { type: 'string', description: '', choices: ['a\nb', 'c'], required: true },
  },
  retention_days: 7,
};

describe('the rules of parameters', () => {
  it('the form returns parameter rules unchanged', () => {
    const values = valuesOf(job);
    expect(values.rules.map((row) => [row.name, row.default, row.required])).toEqual([
      ['rows', '100', false],
      ['day', '', true],
    ]);
    expect(JSON.parse(values.parameters)).toEqual({ free: 'x' });
    expect(values.retention_days).toBe('7');
    expect(definitionFrom(values, job)).toMatchObject({
      parameters: job.parameters,
      parameter_rules: job.parameter_rules,
      retention_days: 7,
    });
  });

  it('the form does not send rules to a server that does not know them', () => {
    const made = definitionFrom({ ...DEFAULTS, name: 'a' }, {});
    expect('parameter_rules' in made || 'retention_days' in made).toBe(false);
  });

  it('the form keeps an empty default and members of a newer server', () => {
    const kept = {
      parameters: { note: '' },
      parameter_rules: { note: { type: 'string', description: '', choices: [], required: false, newer: 1 } },
    };
    expect(definitionOfRules(ruleRowsOf(kept))).toEqual({
      rules: kept.parameter_rules,
      defaults: kept.parameters,
    });
  });

  it('parameter values are converted to the type of their rule', () => {
    expect(['7', ' -7 ', '7.5', 'x', ''].map((text) => valueOfText('integer', text))).toEqual([
      7,
      -7,
      undefined,
      undefined,
      undefined,
    ]);
    expect(valueOfText('number', '7.5')).toBe(7.5);
    expect(['true', 'false', 'no'].map((text) => valueOfText('boolean', text))).toEqual([
      true,
      false,
      undefined,
    ]);
    expect(valueOfText('string', '7')).toBe('7');
    const row = { ...EMPTY_RULE, name: 'n', type: 'number', default: '2', choices: '1\n 2 \n\n3.5' };
    expect(definitionOfRules([row])).toEqual({
      rules: { n: { type: 'number', description: '', choices: [1, 2, 3.5], required: false } },
      defaults: { n: 2 },
    });
    expect(definitionOfRules([{ ...row, required: true }]).defaults).toEqual({});
    expect(definitionOfRules([{ ...row, type: 'boolean' }]).rules.n!.choices).toEqual([]);
  });

  it('parameter rules are validated in the form', () => {
    const wrong = (change: object, others = [EMPTY_RULE]) => {
      const row = { ...EMPTY_RULE, name: 'n', ...change };
      return wrongInRule(row, [row, ...others]);
    };
    expect(wrong({})).toBeNull();
    expect(wrong({ name: 'a-b' })).toEqual(['name', 'parameter_name']);
    expect(wrong({}, [{ ...EMPTY_RULE, name: 'N' }])).toEqual(['name', 'parameter_twice']);
    expect(wrong({ type: 'integer', choices: '1\nx' })).toEqual(['choices', 'choice:2']);
    expect(wrong({ type: 'integer', default: '1.5' })).toEqual(['default', 'of_integer']);
    expect(wrong({ choices: 'a\nb', default: 'c' })).toEqual(['default', 'no_choice']);
    expect(wrong({ choices: 'a\nb', default: 'c', required: true })).toBeNull();
    const found = formSchema.safeParse({
      ...DEFAULTS,
      name: 'a',
      command: 'true',
      cron_expression: '* * * * *',
      rules: [{ ...EMPTY_RULE }],
      retention_days: '3651',
    });
    expect(found.error?.issues.map((one) => one.path)).toEqual([['retention_days'], ['rules', 0, 'name']]);
  });

  it('pointers of the server lead to fields of parameter rules', () => {
    const names = ['rows', 'day'];
    expect(fieldOf('/parameter_rules/day/choices/0', false, names)).toBe('rules.1.choices');
    expect(fieldOf('/parameter_rules/day', false, names)).toBe('rules.1.name');
    expect(fieldOf('/parameters/rows', false, names)).toBe('rules.0.default');
    expect(fieldOf('/parameters/free', false, names)).toBe('parameters');
    expect(fieldOf('/parameter_rules/gone', false, names)).toBeNull();
  });
});

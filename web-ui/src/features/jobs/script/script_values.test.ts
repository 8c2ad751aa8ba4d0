// The script of a job, and its retry conditions, in the fields of the form.
import { describe, expect, it } from 'vitest';
import { definitionFrom, fieldOf, valuesOf } from '../form/form_values';
import { DEFAULTS, formSchema } from '../form/form_schema';
import { conditionsOf, scriptFrom } from './script_values';

const script = {
  interpreter: 'python3',
  body: 'import sys\nprint(sys.argv)\n',
  args: ['--day', '{{params.day}}'],
};
const job = { name: 'Report', type: 'script', script, retry_on: ['exit:75', 'timeout'], no_retry_on: [] };

describe('a script', () => {
  it('the form returns a script unchanged', () => {
    const values = valuesOf(job);
    expect(values.script_args).toBe('--day\n{{params.day}}');
    const saved = definitionFrom(values, job);
    expect(saved.script).toEqual(script);
    expect(saved.command).toBeUndefined();
    expect(saved.retry_on).toEqual(['exit:75', 'timeout']);
    expect(saved.no_retry_on).toEqual([]);
  });

  it('the form keeps multi-line arguments unless they are edited', () => {
    const odd = { ...script, args: ['two\nlines', 'x'] };
    const values = valuesOf({ ...job, script: odd });
    expect(definitionFrom(values, { ...job, script: odd }).script).toEqual(odd);
    const edited = scriptFrom({ ...values, script_args: 'two\nlines\ny' }, odd);
    expect(edited.args).toEqual(['two', 'lines', 'y']);
  });

  it('the form requires a script for this type and leaves it out for others', () => {
    const values = { ...DEFAULTS, name: 'Report', type: 'script', cron_expression: '@daily' };
    const wrong = formSchema.safeParse(values);
    expect(wrong.success ? [] : wrong.error.issues.map((one) => one.path.join('.'))).toEqual(['script_body']);
    expect(formSchema.safeParse({ ...values, script_body: 'true' }).success).toBe(true);
    const shell = definitionFrom({ ...values, type: 'shell', command: 'true', script_body: 'x' }, { ...job });
    expect(shell.script).toBeUndefined();
  });

  it('pointers of the server lead to the script fields', () => {
    expect(fieldOf('/script/body')).toBe('script_body');
    expect(fieldOf('/script/interpreter')).toBe('script_interpreter');
    expect(fieldOf('/script/args/3')).toBe('script_args');
    expect(fieldOf('/script')).toBe('script_body');
    expect(fieldOf('/retry_on/0')).toBe('retry_on');
  });
});

describe('retry conditions', () => {
  it('retry conditions are separated by commas or spaces', () => {
    expect(conditionsOf('exit:1, exit:100-110 signal,timeout  spawn')).toEqual([
      'exit:1',
      'exit:100-110',
      'signal',
      'timeout',
      'spawn',
    ]);
    expect(conditionsOf(' ')).toEqual([]);
    expect(conditionsOf('http:503 http:5xx, http:400-499,http:error')).toHaveLength(4);
    expect(conditionsOf('oom, error:TimeoutError error:out-of.stock_1')).toHaveLength(3);
    for (const wrong of [
      'http:',
      'http:6xx',
      'http:99',
      'exit',
      'exit:0',
      'exit:1-',
      'lost',
      'exit:1;2',
      'error:',
      'error:a;b',
    ])
      expect(conditionsOf(wrong)).toBeNull();
  });

  it('retry conditions are added to a job only if there are any', () => {
    const plain = { name: 'A', type: 'shell', command: 'true' };
    expect('retry_on' in definitionFrom(valuesOf(plain), plain)).toBe(false);
    expect(definitionFrom({ ...valuesOf(plain), no_retry_on: 'signal' }, plain).no_retry_on).toEqual([
      'signal',
    ]);
  });
});

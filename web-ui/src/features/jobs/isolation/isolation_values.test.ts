// The limits of a job, its user and its working directory, in the fields of the form.
import { describe, expect, it } from 'vitest';
import { definitionFrom, fieldOf, valuesOf } from '../form/form_values';
import { DEFAULTS, formSchema } from '../form/form_schema';

const limits = { memory_mb: 512, cpu: 0.5, enforce: 'best_effort' };
const job = {
  name: 'Report',
  type: 'shell',
  command: 'true',
  limits,
  run_as: 'alice',
  working_directory: '~/app',
  output_encoding: 'gb18030',
};

const NAMES = ['limits', 'run_as', 'working_directory', 'output_encoding'];

const wrongAt = (changes: Partial<typeof DEFAULTS>) => {
  const values = { ...DEFAULTS, name: 'n', command: 'true', cron_expression: '@daily', ...changes };
  const checked = formSchema.safeParse(values);
  return checked.success ? [] : checked.error.issues.map((one) => one.path.join('.'));
};

describe('isolation', () => {
  it('the form returns limits and user unchanged', () => {
    const values = valuesOf(job);
    expect([values.limit_memory_mb, values.limit_cpu, values.limit_pids]).toEqual(['512', '0.5', '']);
    const saved = definitionFrom(values, job);
    expect(saved.limits).toEqual(limits);
    expect(saved.run_as).toBe('alice');
    expect(saved.working_directory).toBe('~/app');
    expect(saved.output_encoding).toBe('gb18030');
    const contained = definitionFrom({ ...values, type: 'container' }, job);
    expect([contained.working_directory, contained.output_encoding]).toEqual([undefined, 'gb18030']);
  });

  it('the form leaves out empty limits, and all limits for types without a process', () => {
    const emptied = definitionFrom(
      {
        ...valuesOf(job),
        limit_memory_mb: '',
        limit_cpu: ' ',
        run_as: '',
        working_directory: ' ',
        output_encoding: '',
      },
      job,
    );
    for (const name of NAMES) expect(name in emptied).toBe(false);
    const noop = definitionFrom({ ...valuesOf(job), type: 'noop' }, job);
    for (const name of NAMES) expect(name in noop).toBe(false);
  });

  it('the form validates the bounds of each limit', () => {
    expect(
      wrongAt({ limit_memory_mb: '4', limit_cpu: '0.01', limit_open_files: '16', run_as: 'www-data' }),
    ).toEqual([]);
    expect(wrongAt({ limit_memory_mb: '3' })).toEqual(['limit_memory_mb']);
    expect(wrongAt({ limit_cpu: '0.001' })).toEqual(['limit_cpu']);
    expect(wrongAt({ limit_pids: '1.5' })).toEqual(['limit_pids']);
    expect(wrongAt({ limit_open_files: '15' })).toEqual(['limit_open_files']);
    expect(wrongAt({ run_as: '0' })).toEqual(['run_as']);
    expect(wrongAt({ type: 'noop', run_as: '0' })).toEqual([]);
    expect(wrongAt({ working_directory: 'app' })).toEqual(['working_directory']);
    expect(wrongAt({ working_directory: '~alice' })).toEqual(['working_directory']);
    for (const working_directory of ['~', '~/app', '/srv'])
      expect(wrongAt({ working_directory })).toEqual([]);
  });

  it('pointers of the server lead to the isolation fields', () => {
    expect(fieldOf('/limits/cpu')).toBe('limit_cpu');
    expect(fieldOf('/limits')).toBe('limit_memory_mb');
    expect(fieldOf('/run_as')).toBe('run_as');
    expect(fieldOf('/working_directory')).toBe('working_directory');
  });
});

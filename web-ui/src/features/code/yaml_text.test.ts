import { describe, expect, it } from 'vitest';
import { readYamlText } from './yaml_text';

const TEXT = `name: Sales
workflow:
  nodes:
    - {id: load, job: load}
    - id: audit
      job: audit
      after:
        - load
        - {node: x}
"a/b": {c~d: 1}
`;

describe('places in a YAML text', () => {
  it('a pointer leads to the line of its key or item', () => {
    const { lineOf, mistakes, value } = readYamlText(TEXT);
    expect(mistakes).toEqual([]);
    expect(value).toMatchObject({ name: 'Sales' });
    const pointers = [
      '/name',
      '/workflow',
      '/workflow/nodes/0/job',
      '/workflow/nodes/1',
      '/workflow/nodes/1/after/1/node',
      '/a~1b/c~0d',
    ];
    expect(pointers.map(lineOf)).toEqual([1, 2, 4, 5, 9, 10]);
  });

  it('a pointer to what is missing leads to what is around it', () => {
    const { lineOf } = readYamlText(TEXT);
    expect(lineOf('/workflow/nodes/1/after/7/node')).toBe(7);
    expect(lineOf('/workflow/nodes/0/id/x')).toBe(4);
    expect(lineOf('/command')).toBeUndefined();
    expect(lineOf('')).toBeUndefined();
  });

  it('mistakes of the text have their lines', () => {
    expect(readYamlText('a: 1\nb: 2\na: 3\n')).toMatchObject({
      value: undefined,
      mistakes: [{ line: 3, code: 'DUPLICATE_KEY' }],
    });
    expect(readYamlText('a: 1\nb: [1,\nc: 2\n').mistakes[0]?.line).toBeGreaterThan(1);
    expect(readYamlText('a: *no\n').mistakes).toMatchObject([{ code: 'BAD_ALIAS' }]);
  });
});

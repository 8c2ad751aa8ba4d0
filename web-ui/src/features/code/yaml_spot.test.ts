import { describe, expect, it } from 'vitest';
import { spotAt } from './yaml_spot';

// The bar stands for the place of typing.
const at = (text: string) => {
  const position = text.indexOf('|');
  const spot = spotAt(text.replace('|', ''), position);
  return spot && `${spot.path.join('/')} ${spot.wants} ${spot.word}(${spot.siblings.join()})`;
};

describe('the place of typing', () => {
  it('a place in brackets of one line is found', () => {
    expect(at('nodes:\n  - {id: load, jo|')).toBe('nodes/- key jo(id)');
    expect(at('nodes:\n  - {id: load, job: lo|}')).toBe('nodes/-/job value lo(id,job)');
    expect(at('nodes:\n  - {id: a, job: b, after: [lo|]}')).toBe('nodes/-/after/- value lo()');
    expect(at('nodes:\n  - {id: a, job: b, after: [x, {node: y, on: |}]}')).toBe(
      'nodes/-/after/-/on value (node,on)',
    );
    expect(at('nodes:\n- {id: a, after: [b], |')).toBe('nodes/- key (id,after)');
  });

  it('a place in lines of their own is found', () => {
    expect(at('nodes:\n  - id: a\n    job: b\n    af|')).toBe('nodes/- either af(job,id)');
    expect(at('nodes:\n  - id: a\n    after:\n      - lo|')).toBe('nodes/-/after/- either lo()');
    expect(at('nodes:\n  - id: a\n    after:\n    - node: lo|')).toBe('nodes/-/after/-/node value lo()');
    expect(at('nodes:\n  - id: a\n    after:\n    - node: b\n      on: |')).toBe(
      'nodes/-/after/-/on value ()',
    );
    expect(at('nodes:\n- id: a\n- id: b\n  job: l|')).toBe('nodes/-/job value l()');
    expect(at('max_parallel: 3\n|')).toBe(' either (max_parallel)');
    expect(at('name: x\nworkflow:\n  nodes:\n    # first\n\n    - |')).toBe('workflow/nodes/- either ()');
    expect(at('a:\n  b: 1\nc|')).toBe(' either c(a)');
  });

  it('no place is told in comments, quoted texts, sentences, or behind a colon or closed brackets', () => {
    for (const text of [
      'nodes: # lo|',
      'name: "lo|',
      'name: two lo|',
      'nodes:\n  - {id: a, x: "b|"}',
      'after: [a]|',
      'name:|',
      'a:\n\t|',
    ])
      expect(at(text), text).toBeNull();
  });
});

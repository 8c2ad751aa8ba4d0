import { describe, expect, it } from 'vitest';
import { draftOf, nodeOf } from './draft';

describe('the draft of a workflow', () => {
  it('a draft reads nodes and both forms of edges', () => {
    expect(
      draftOf({
        nodes: [
          { id: 'load', job: 'load-table' },
          {
            id: 'audit',
            job: 'audit',
            after: ['load', { node: 'x', on: 'failure', if: 'exit_code == 3', recovers: true }],
          },
        ],
      }),
    ).toEqual([
      { id: 'load', name: 'load-table', after: [] },
      {
        id: 'audit',
        name: 'audit',
        after: [
          { node: 'load', on: 'success', if: null, recovers: false },
          { node: 'x', on: 'failure', if: 'exit_code == 3', recovers: true },
        ],
      },
    ]);
  });

  it('a draft tolerates unfinished input', () => {
    for (const odd of [undefined, null, 3, [], {}, { nodes: 3 }, { nodes: {} }])
      expect(draftOf(odd)).toEqual([]);
    expect(
      draftOf({ nodes: [null, { id: 'a' }, { id: 'a', after: 'b' }, { id: 3, after: [null, {}] }] }),
    ).toEqual([
      { id: '#1', name: '', after: [] },
      { id: 'a', name: '', after: [] },
      { id: 'a#3', name: '', after: [] },
      {
        id: '#4',
        name: '',
        after: [
          { node: '', on: 'success', if: null, recovers: false },
          { node: '', on: 'success', if: null, recovers: false },
        ],
      },
    ]);
  });

  it('nodeOf finds the node of a mistake', () => {
    expect(nodeOf('/workflow/nodes/3/after/0')).toBe(3);
    expect(nodeOf('/workflow/nodes/12')).toBe(12);
    expect(nodeOf('/workflow/max_parallel')).toBeUndefined();
    expect(nodeOf('/workflow/nodes')).toBeUndefined();
  });
});

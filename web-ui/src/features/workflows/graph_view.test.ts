import { describe, expect, it } from 'vitest';
import {
  asideOf,
  firstView,
  focusOf,
  isWhole,
  linesOf,
  nextBox,
  shapeOf,
  toneOf,
  viewWith,
  wholeView,
} from './graph_view';
import { BOX, layoutOf } from './layout';

const WINDOW = { width: 1000, height: 500 };
const LARGE = { width: 4000, height: 900 };
const edge = (node: string, more: object = {}) => ({
  node,
  on: 'success',
  if: null,
  recovers: false,
  ...more,
});

describe('the view of a graph', () => {
  it('a graph that can be read as a whole opens as a whole, in the middle and no larger than it is', () => {
    expect(firstView(WINDOW, { width: 600, height: 100 }, undefined)).toEqual({ zoom: 1, x: 200, y: 200 });
    const view = firstView(WINDOW, { width: 1400, height: 500 }, undefined);
    expect(view.zoom).toBeGreaterThan(0.6);
    expect(isWhole(view, WINDOW, { width: 1400, height: 500 })).toBe(true);
  });

  it('a larger graph opens at its begin, or at the node that is looked for', () => {
    const start = firstView(WINDOW, LARGE, undefined);
    expect(start).toMatchObject({ zoom: 0.6, x: 12 });
    expect(isWhole(start, WINDOW, LARGE)).toBe(false);
    const box = { id: 'n', x: 2000, y: 300 };
    const view = firstView(WINDOW, LARGE, box);
    const left = view.x + box.x * view.zoom;
    expect(left).toBeGreaterThan(400);
    expect(left).toBeLessThan(500);
    // At the end there is nothing beyond it.
    const end = firstView(WINDOW, LARGE, { id: 'n', x: LARGE.width - BOX.width, y: 0 });
    expect(Math.round(end.x + LARGE.width * end.zoom)).toBe(WINDOW.width - 12);
    expect(end.y).toBe(12);
  });

  it('the whole of a large graph is in sight at any zoom', () => {
    expect(isWhole(wholeView(WINDOW, LARGE), WINDOW, LARGE)).toBe(true);
  });

  it('a node that gets the focus comes into sight, and one that is in sight moves nothing', () => {
    const view = { zoom: 1, x: 0, y: 0 };
    expect(viewWith({ id: 'n', x: 300, y: 200 }, view, WINDOW)).toEqual(view);
    expect(viewWith({ id: 'n', x: 2000, y: -50 }, view, WINDOW)).toEqual({
      zoom: 1,
      x: WINDOW.width - 12 - BOX.width - 2000,
      y: 62,
    });
  });

  it('the node that is looked for has failed, or runs', () => {
    const [done, runs, bad] = ['COMPLETED', 'RUNNING', 'TIMED_OUT'].map((state) => ({ id: state, state }));
    expect(focusOf([done!, runs!, bad!])).toBe(bad);
    expect(focusOf([done!, runs!])).toBe(runs);
    expect(focusOf([done!])).toBeUndefined();
  });

  it('arrow keys lead to the next column and to the next node in a column', () => {
    const box = (id: string, x: number, y: number) => ({ id, x, y });
    const boxes = [
      box('a', 0, 60),
      box('b', 232, 0),
      box('c', 232, 60),
      box('d', 232, 120),
      box('e', 464, 60),
    ];
    const to = (key: string, from: number) => nextBox(key, boxes[from]!, boxes)?.id;
    expect([to('ArrowRight', 0), to('ArrowRight', 2), to('ArrowRight', 4)]).toEqual(['c', 'e', undefined]);
    expect([to('ArrowLeft', 4), to('ArrowUp', 2), to('ArrowDown', 2)]).toEqual(['c', 'b', 'd']);
  });
});

describe('the lines of a graph', () => {
  const linesWith = (after: object[]) => {
    const nodes = [
      ...['a', 'b', 'c', 'd'].map((id) => ({ id, after: [] })),
      { id: 'z', after: after as ReturnType<typeof edge>[] },
    ];
    return linesOf(layoutOf(nodes).lines, nodes);
  };
  const aside = (after: object[]) => [...asideOf(linesWith(after))];
  const failure = (node: string, verdict?: string) => edge(node, { on: 'failure', verdict });

  it('few lines on failure are drawn while it may happen', () => {
    expect(aside([failure('a'), edge('b')])).toEqual([]);
    expect(aside([failure('a', 'open')])).toEqual([]);
    expect(aside([failure('a', 'failed')])).toEqual(['z<0']);
  });

  it('a graph with many lines on failure draws those that were met', () => {
    expect(aside(['a', 'b', 'c', 'd'].map((id) => failure(id)))).toHaveLength(4);
    expect(aside([failure('a', 'met'), ...['b', 'c', 'd'].map((id) => failure(id, 'failed'))])).toEqual([
      'z<1',
      'z<2',
      'z<3',
    ]);
  });

  it('a line is red where a failure was met or has stopped what follows', () => {
    const states = new Map([
      ['a', 'FAILED'],
      ['b', 'COMPLETED'],
    ]);
    const tones = (...after: object[]) => linesWith(after).map((line) => toneOf(line, states));
    expect(
      tones(edge('b', { verdict: 'met' }), failure('a', 'met'), edge('a', { verdict: 'failed' })),
    ).toEqual(['ok', 'bad', 'bad']);
    // A branch that was not taken, and a failure that did not happen, are no failures.
    expect(
      tones(edge('b', { if: 'rows > 1', verdict: 'failed' }), failure('b', 'failed'), edge('a')),
    ).toEqual(['plain', 'plain', 'plain']);
  });

  it('a refresh of the states leaves the layout as it is', () => {
    const before = [{ id: 'a', state: 'RUNNING', after: [edge('b', { verdict: 'open' })] }];
    const later = [{ id: 'a', state: 'FAILED', after: [edge('b', { verdict: 'met' })] }];
    expect(shapeOf(before)).toBe(shapeOf(later));
    expect(shapeOf(before)).not.toBe(shapeOf([{ id: 'a', after: [edge('c')] }]));
  });
});

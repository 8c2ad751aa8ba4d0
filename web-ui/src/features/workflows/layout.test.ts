import { describe, expect, it } from 'vitest';
import { BOX, columnsOf, layoutOf, type GraphNode, type Line } from './layout';

const edge = (node: string, more: object = {}) => ({
  node,
  on: 'success',
  if: null,
  recovers: false,
  ...more,
});
const node = (id: string, ...after: string[]): GraphNode => ({ id, after: after.map((one) => edge(one)) });
const names = (lines: readonly Line[]) => lines.map((line) => line.from + line.to);
const chains = (count: number, length: number) => [
  node('s'),
  ...Array.from({ length: count * length }, (_, i) => node('n' + i, i % length ? 'n' + (i - 1) : 's')),
];
// The places at which a line is level over a column.
const levels = (line: Line) => [...line.path.matchAll(/,(\d+)/g)].map(([, y]) => Number(y));

describe('the layout of a graph', () => {
  it('the layout puts each node right of its predecessors', () => {
    const nodes = [node('d', 'b', 'c'), node('a'), node('b', 'a'), node('c', 'a', 'b')];
    expect(Object.fromEntries(columnsOf(nodes))).toEqual({ a: 0, b: 1, c: 2, d: 3 });
    const { boxes, lines } = layoutOf(nodes);
    const x = Object.fromEntries(boxes.map((box) => [box.id, box.x]));
    for (const line of lines) expect(x[line.to]).toBeGreaterThan(x[line.from]! + BOX.width);
    expect(lines).toHaveLength(5);
  });

  // The second graph is too large for the library.
  it.each([chains(10, 3), chains(40, 20)])(
    'the layout gives each node a place of its own in its size',
    (...nodes) => {
      const { boxes, width, height } = layoutOf(nodes);
      expect(boxes.map((box) => box.id)).toEqual(nodes.map(({ id }) => id));
      const byColumn = new Map<number, number[]>();
      for (const box of boxes) {
        expect(box.x + BOX.width).toBeLessThanOrEqual(width);
        expect(box.y + BOX.height).toBeLessThanOrEqual(height);
        byColumn.set(box.x, [...(byColumn.get(box.x) ?? []), box.y]);
      }
      for (const ys of byColumn.values()) {
        const sorted = ys.toSorted((a, b) => a - b);
        for (const [i, y] of sorted.entries())
          if (i > 0) expect(y - sorted[i - 1]!).toBeGreaterThan(BOX.height);
      }
    },
  );

  it('the layout leads a long line around the nodes in between', () => {
    const { boxes, lines } = layoutOf([node('a'), node('b', 'a'), node('c', 'a', 'b')]);
    const between = boxes[1]!;
    const around = lines.find((line) => line.from === 'a' && line.to === 'c')!;
    const outside = levels(around).filter((y) => y < between.y || y > between.y + BOX.height);
    expect(outside.length).toBeGreaterThan(0);
  });

  it('the lines of many failures do not push the nodes apart', () => {
    const nodes = chains(6, 4);
    const alone = layoutOf(nodes);
    const alarm = { id: 'alarm', after: nodes.map(({ id }) => edge(id, { on: 'failure' })) };
    const { height, lines } = layoutOf([...nodes, alarm]);
    expect(height).toBe(alone.height);
    expect(lines.filter((line) => line.to === 'alarm')).toHaveLength(nodes.length);
  });

  it('the layout has room for a condition between two nodes', () => {
    const nodes = [node('a'), { id: 'b', after: [edge('a', { if: 'outputs.rows > 1000' })] }];
    const { boxes, lines } = layoutOf(nodes);
    expect(boxes[1]!.x - BOX.width).toBeGreaterThan(120);
    expect(lines[0]!.label.x).toBeGreaterThan(BOX.width);
    expect(lines[0]!.label.x).toBeLessThan(boxes[1]!.x);
  });

  it('the layout tolerates unknown nodes and circles', () => {
    const { boxes, lines } = layoutOf([node('a', 'b', 'none'), node('b', 'a'), node('c', 'c')]);
    expect(boxes.map((box) => box.id)).toEqual(['a', 'b', 'c']);
    expect(names(lines)).toEqual(['ba', 'ab', 'cc']);
    expect(layoutOf([])).toMatchObject({ width: 0, height: 0, boxes: [], lines: [] });
  });
});

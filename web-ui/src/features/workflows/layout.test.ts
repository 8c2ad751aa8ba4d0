import { describe, expect, it } from 'vitest';
import { BOX, columnsOf, layoutOf, type GraphNode } from './layout';

const node = (id: string, ...after: string[]): GraphNode => ({
  id,
  after: after.map((one) => ({ node: one, on: 'success', if: null, recovers: false })),
});

describe('the layout of a graph', () => {
  it('the layout puts each node right of its predecessors', () => {
    const nodes = [node('d', 'b', 'c'), node('a'), node('b', 'a'), node('c', 'a', 'b')];
    expect(Object.fromEntries(columnsOf(nodes))).toEqual({ a: 0, b: 1, c: 2, d: 3 });
    const { boxes, lines } = layoutOf(nodes);
    const x = Object.fromEntries(boxes.map((box) => [box.id, box.x]));
    for (const line of lines) expect(x[line.to]).toBeGreaterThan(x[line.from]! + BOX.width);
    expect(lines).toHaveLength(5);
  });

  it('the layout gives each node a place of its own within its size', () => {
    const nodes = [
      node('s'),
      ...Array.from({ length: 30 }, (_, i) => node('n' + i, 's')),
      node('e', 'n1', 'n29'),
    ];
    const { boxes, width, height } = layoutOf(nodes);
    const places = new Set(boxes.map((box) => `${box.x}/${box.y}`));
    expect(places.size).toBe(nodes.length);
    for (const box of boxes) {
      expect(box.x + BOX.width).toBeLessThanOrEqual(width);
      expect(box.y + BOX.height).toBeLessThanOrEqual(height);
    }
  });

  it('the layout leads a long line around the nodes in between', () => {
    const { lines } = layoutOf([node('a'), node('b', 'a'), node('c', 'a', 'b')]);
    const paths = Object.fromEntries(lines.map((line) => [line.from + line.to, line.path]));
    expect(paths.ab).not.toContain(',70');
    expect(paths.ac).toContain(',70');
  });

  it('the layout tolerates unknown nodes and circles', () => {
    const { boxes, lines } = layoutOf([node('a', 'b', 'none'), node('b', 'a'), node('c', 'c')]);
    expect(boxes.map((box) => box.id)).toEqual(['a', 'b', 'c']);
    expect(lines.map((line) => line.from + line.to)).toEqual(['ba', 'ab', 'cc']);
    expect(layoutOf([])).toEqual({ width: 8, height: 18, boxes: [], lines: [] });
  });
});

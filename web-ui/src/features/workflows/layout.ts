// Places the nodes of a workflow from left to right, each right of the nodes before it, and leads the lines
// between them around the others. Pure.
import { Graph, layout, type EdgeLabel } from '@dagrejs/dagre';

export interface GraphEdge {
  node: string;
  on: string;
  if: string | null;
  recovers: boolean;
  verdict?: string;
}
export interface GraphNode {
  id: string;
  after: readonly GraphEdge[];
}
export interface Point {
  x: number; // px
  y: number;
}
export interface Box extends Point {
  id: string; // x and y are of the upper left corner
}
export interface Line {
  id: string;
  from: string;
  to: string;
  path: string; // of an SVG
  label: Point; // where a label has its middle
  place: number; // of the edge among those of the node
}
export interface Layout {
  width: number;
  height: number;
  boxes: Box[]; // in the order of the nodes
  lines: Line[];
}

export const BOX = { width: 176, height: 44 };
const GAP = { x: 56, y: 16 };
const LABEL = { letter: 7.3, margin: 12, most: 200, height: 22 }; // px
const DIRECT = 3; // failures that a node follows, at most, for their lines to be led around other nodes
const WORK_MAX = 600; // of the library, which then takes about a quarter of a second

// The column of each node: one more than that of the last node before it. Unknown nodes and nodes of a cycle,
// which a draft may have, do not count.
export function columnsOf(nodes: readonly GraphNode[]): Map<string, number> {
  const known = new Map(nodes.map((node) => [node.id, node]));
  const columns = new Map<string, number>();
  const open = new Set<string>();
  const visit = (node: GraphNode): number => {
    const done = columns.get(node.id);
    if (done !== undefined) return done;
    open.add(node.id);
    let column = 0;
    for (const { node: id } of node.after) {
      const before = known.get(id);
      if (before && !open.has(id)) column = Math.max(column, visit(before) + 1);
    }
    open.delete(node.id);
    columns.set(node.id, column);
    return column;
  };
  nodes.forEach(visit);
  return columns;
}

export const lineId = (to: string, edge: number) => `${to}<${edge}`;
export const labelWidth = (text: string) => Math.min(LABEL.most, text.length * LABEL.letter + LABEL.margin);

export function layoutOf(nodes: readonly GraphNode[]): Layout {
  const columns = columnsOf(nodes);
  const led = ledEdges(nodes, columns);
  const work = led.reduce(
    (sum, { edge, to }) => sum + Math.abs(columns.get(to)! - columns.get(edge.node)!),
    nodes.length,
  );
  const { boxes, ways } =
    work > WORK_MAX
      ? { boxes: inColumns(nodes, columns), ways: new Map<string, Way>() }
      : arranged(nodes, led);
  const places = new Map(boxes.map((box) => [box.id, box]));
  const centres = [...new Set(boxes.map((box) => box.x + BOX.width / 2))];
  const lines = nodes.flatMap((node) =>
    node.after.flatMap((edge, i) => {
      const from = places.get(edge.node);
      if (!from) return [];
      const id = lineId(node.id, i);
      const way = ways.get(id);
      const points = pointsOf(from, places.get(node.id)!, way?.inner ?? [], centres);
      return [
        {
          id,
          from: from.id,
          to: node.id,
          place: i,
          path: curve(points),
          label: way?.label ?? middle(points),
        },
      ];
    }),
  );
  return {
    width: Math.max(0, ...boxes.map((box) => box.x + BOX.width)),
    height: Math.max(0, ...boxes.map((box) => box.y + BOX.height)),
    boxes,
    lines,
  };
}

interface Led {
  id: string;
  to: string;
  edge: GraphEdge;
}
// The edges that have a say in the places. A node that follows the failure of many stands right of the last of them:
// the lines of the others, which are seldom shown, would push all nodes apart.
function ledEdges(nodes: readonly GraphNode[], columns: ReadonlyMap<string, number>): Led[] {
  const column = ({ edge }: Led) => columns.get(edge.node)!;
  return nodes.flatMap((node) => {
    const edges = node.after
      .map((edge, i) => ({ id: lineId(node.id, i), to: node.id, edge }))
      .filter(({ edge }) => columns.has(edge.node) && edge.node !== node.id);
    const failures = edges
      .filter(({ edge }) => edge.on === 'failure')
      .toSorted((a, b) => column(b) - column(a));
    const left = new Set(failures.length > DIRECT ? failures.slice(1) : []);
    return edges.filter((one) => !left.has(one));
  });
}

interface Way {
  inner: Point[]; // without the ends
  label?: Point;
}
function arranged(nodes: readonly GraphNode[], led: readonly Led[]) {
  const graph = new Graph<object, { width: number; height: number } & Point, EdgeLabel>({
    multigraph: true,
  });
  graph.setGraph({ rankdir: 'LR', nodesep: GAP.y, edgesep: GAP.y / 2, ranksep: GAP.x });
  for (const { id } of nodes) graph.setNode(id, { ...BOX, x: 0, y: 0 });
  for (const { id, to, edge } of led) {
    const label: EdgeLabel = edge.if
      ? { width: labelWidth(edge.if), height: LABEL.height, labelpos: 'c' }
      : {};
    graph.setEdge(edge.node, to, label, id);
  }
  layout(graph);
  const boxes = nodes.map(({ id }) => {
    const { x, y } = graph.node(id);
    return { id, x: x - BOX.width / 2, y: y - BOX.height / 2 };
  });
  const ways = new Map<string, Way>();
  for (const { id, to, edge } of led) {
    const { points = [], x, y } = graph.edge(edge.node, to, id);
    const label = edge.if && x !== undefined && y !== undefined ? { x, y } : undefined;
    ways.set(id, { inner: points.slice(1, -1), label });
  }
  return { boxes, ways };
}

// For graphs that would take the library long: each node at the height of those before it, so that lines seldom cross.
function inColumns(nodes: readonly GraphNode[], columns: ReadonlyMap<string, number>): Box[] {
  const rows = new Map<string, number>();
  const count = Math.max(0, ...columns.values()) + 1;
  const height = (node: GraphNode) => {
    const before = node.after.map((edge) => rows.get(edge.node)).filter((row) => row !== undefined);
    return before.length > 0 ? before.reduce((sum, row) => sum + row, 0) / before.length : 0;
  };
  for (let column = 0; column < count; column += 1) {
    const here = nodes.filter((node) => columns.get(node.id) === column);
    const wanted = here.map((node) => [node, height(node)] as const).toSorted((a, b) => a[1] - b[1]);
    let next = 0;
    for (const [node, row] of wanted) {
      const free = Math.max(next, Math.round(row));
      rows.set(node.id, free);
      next = free + 1;
    }
  }
  return nodes.map((node) => ({
    id: node.id,
    x: columns.get(node.id)! * (BOX.width + GAP.x),
    y: rows.get(node.id)! * (BOX.height + GAP.y),
  }));
}

// The points of a line, with the ends at the sides of the boxes. Where it passes a column it is level over the whole
// width, so that it touches no box there.
function pointsOf(from: Box, to: Box, inner: readonly Point[], centres: readonly number[]): Point[] {
  const half = BOX.width / 2;
  const passed = inner.flatMap(({ x, y }) => {
    const centre = centres.find((one) => Math.abs(one - x) < half);
    if (centre === undefined) return [{ x, y }];
    const sides = [
      { x: centre - half, y },
      { x: centre + half, y },
    ];
    return from.x <= to.x ? sides : sides.toReversed();
  });
  return [
    { x: from.x + BOX.width, y: from.y + BOX.height / 2 },
    ...passed,
    { x: to.x, y: to.y + BOX.height / 2 },
  ];
}

const middle = (points: readonly Point[]): Point => {
  const [a, b] = [points[0]!, points.at(-1)!];
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
};

function curve(points: readonly Point[]): string {
  const at = ({ x, y }: Point) => `${Math.round(x)},${Math.round(y)}`;
  return points
    .map((point, i) => {
      const before = points[i - 1];
      if (!before) return 'M' + at(point);
      if (Math.abs(before.y - point.y) < 1) return 'L' + at(point);
      const bend = (point.x - before.x) / 2;
      return `C${at({ x: before.x + bend, y: before.y })} ${at({ x: point.x - bend, y: point.y })} ${at(point)}`;
    })
    .join(' ');
}

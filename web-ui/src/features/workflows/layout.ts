// Places the nodes of a workflow in columns, each right of the nodes before it. Pure.
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
export interface Box {
  id: string;
  x: number; // px; the upper left corner
  y: number;
}
export interface Line {
  from: string;
  to: string;
  path: string; // of an SVG
  edge: GraphEdge;
}
export interface Layout {
  width: number;
  height: number;
  boxes: Box[]; // in the order of the nodes
  lines: Line[];
}

export const BOX = { width: 176, height: 44 };
const GAP = { x: 56, y: 20 };
const MARGIN = 8;
const ROUND = 40; // px; how far a line bends that leads around a node between its ends

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

export function layoutOf(nodes: readonly GraphNode[]): Layout {
  const columns = columnsOf(nodes);
  const rows = new Map<string, number>();
  const count = Math.max(0, ...columns.values()) + 1;
  for (let column = 0; column < count; column += 1) {
    const here = nodes.filter((node) => columns.get(node.id) === column);
    // Nodes stand at the height of those before them, so that lines seldom cross.
    const height = (node: GraphNode) => {
      const before = node.after.map((edge) => rows.get(edge.node)).filter((row) => row !== undefined);
      return before.length > 0 ? before.reduce((sum, row) => sum + row, 0) / before.length : 0;
    };
    const wanted = here.map((node) => [node, height(node)] as const).toSorted((a, b) => a[1] - b[1]);
    let next = 0;
    for (const [node, row] of wanted) {
      const free = Math.max(next, Math.round(row));
      rows.set(node.id, free);
      next = free + 1;
    }
  }
  const boxOf = (node: GraphNode): Box => ({
    id: node.id,
    x: MARGIN + columns.get(node.id)! * (BOX.width + GAP.x),
    y: MARGIN + rows.get(node.id)! * (BOX.height + GAP.y),
  });
  const boxes = nodes.map(boxOf);
  const places = new Map(boxes.map((box) => [box.id, box]));
  const lines = nodes.flatMap((node) =>
    node.after.flatMap((edge) => {
      const from = places.get(edge.node);
      return from ? [{ from: from.id, to: node.id, edge, path: curve(from, places.get(node.id)!) }] : [];
    }),
  );
  return {
    width: Math.max(0, ...boxes.map((box) => box.x + BOX.width)) + MARGIN,
    height: Math.max(0, ...boxes.map((box) => box.y + BOX.height)) + MARGIN + ROUND / 4,
    boxes,
    lines,
  };
}

function curve(from: Box, to: Box): string {
  const [x1, y1] = [from.x + BOX.width, from.y + BOX.height / 2];
  const [x2, y2] = [to.x, to.y + BOX.height / 2];
  const bend = Math.max(GAP.x / 2, (x2 - x1) / 2);
  const round = y1 === y2 && x2 - x1 > GAP.x ? ROUND : 0;
  return `M${x1},${y1} C${x1 + bend},${y1 + round} ${x2 - bend},${y2 + round} ${x2},${y2}`;
}

// The part of a graph that is in sight, where a key leads in it, and which of its lines are drawn. Pure.
import { BOX, type Box, type GraphEdge, type GraphNode, type Line } from './layout';

export interface Size {
  width: number; // px
  height: number;
}
export interface View {
  x: number; // px in the window of the graph's upper left corner
  y: number;
  zoom: number;
}

export const READABLE = 0.6; // the smallest zoom at which a graph opens
export const MARGIN = 12; // px around the whole graph
const FEW = 3; // lines on failure that are drawn though nothing has failed
const BAD = new Set(['FAILED', 'TIMED_OUT', 'LOST', 'HELD']);

export const isBad = (state: string | undefined) => BAD.has(state ?? '');

// The whole graph, no larger than it is.
export function wholeView(window: Size, graph: Size): View {
  const zoom = Math.min(
    1,
    (window.width - 2 * MARGIN) / Math.max(1, graph.width),
    (window.height - 2 * MARGIN) / Math.max(1, graph.height),
  );
  return {
    zoom,
    x: (window.width - graph.width * zoom) / 2,
    y: (window.height - graph.height * zoom) / 2,
  };
}

// The whole graph if it can be read then; otherwise the part around `focus`, or its begin.
export function firstView(window: Size, graph: Size, focus: Box | undefined): View {
  const whole = wholeView(window, graph);
  if (whole.zoom >= READABLE) return whole;
  const centre = focus
    ? { x: focus.x + BOX.width / 2, y: focus.y + BOX.height / 2 }
    : { x: 0, y: graph.height / 2 };
  return viewAround(centre, READABLE, window, graph);
}

// Nothing beyond the graph is in sight as long as there is more of it.
function viewAround(centre: { x: number; y: number }, zoom: number, window: Size, graph: Size): View {
  const along = (at: number, size: number, whole: number) => {
    const room = size - 2 * MARGIN - whole * zoom;
    return room >= 0 ? MARGIN + room / 2 : Math.max(MARGIN + room, Math.min(MARGIN, size / 2 - at * zoom));
  };
  return {
    zoom,
    x: along(centre.x, window.width, graph.width),
    y: along(centre.y, window.height, graph.height),
  };
}

// The view that has the box in sight with as little change as possible.
export function viewWith(box: Box, view: View, window: Size): View {
  const along = (at: number, length: number, offset: number, size: number) => {
    const start = at * view.zoom + offset;
    const end = start + length * view.zoom;
    if (start < MARGIN) return offset + MARGIN - start;
    return end > size - MARGIN ? offset - (end - size + MARGIN) : offset;
  };
  return {
    zoom: view.zoom,
    x: along(box.x, BOX.width, view.x, window.width),
    y: along(box.y, BOX.height, view.y, window.height),
  };
}

export function isWhole(view: View, window: Size, graph: Size): boolean {
  const inside = (offset: number, length: number, size: number) =>
    offset >= -1 && offset + length * view.zoom <= size + 1;
  return inside(view.x, graph.width, window.width) && inside(view.y, graph.height, window.height);
}

// The node that people look for first: one that has failed, otherwise one that runs.
export function focusOf<T extends { id: string; state?: string }>(nodes: readonly T[]): T | undefined {
  return nodes.find((node) => isBad(node.state)) ?? nodes.find((node) => node.state === 'RUNNING');
}

// The box to which an arrow key leads; undefined if there is none on that side.
export function nextBox(key: string, from: Box, boxes: readonly Box[]): Box | undefined {
  const level = key === 'ArrowLeft' || key === 'ArrowRight';
  const sign = key === 'ArrowRight' || key === 'ArrowDown' ? 1 : -1;
  const distance = (box: Box) => {
    const ahead = sign * (level ? box.x - from.x : box.y - from.y);
    const aside = Math.abs(level ? box.y - from.y : box.x - from.x);
    // To the side the next column counts first, whatever the height.
    return ahead <= 0 ? Infinity : level ? ahead * 10 + aside : ahead + aside * 10;
  };
  return boxes
    .map((box) => ({ box, far: distance(box) }))
    .filter(({ far }) => far < Infinity)
    .toSorted((a, b) => a.far - b.far)[0]?.box;
}

// A line with the edge of the present nodes, whose verdict changes.
export interface EdgeLine extends Line {
  edge: GraphEdge;
}
export function linesOf(lines: readonly Line[], nodes: readonly GraphNode[]): EdgeLine[] {
  const edges = new Map(nodes.map((node) => [node.id, node.after]));
  return lines.map((line) => ({ ...line, edge: edges.get(line.to)![line.place]! }));
}

export type Tone = 'ok' | 'bad' | 'plain';

// Red is a line that was met by a failure, or that a failure has broken.
export function toneOf({ edge, from }: EdgeLine, states: ReadonlyMap<string, string | undefined>): Tone {
  if (edge.verdict === 'met') return edge.on === 'failure' ? 'bad' : 'ok';
  return edge.verdict === 'failed' && edge.on !== 'failure' && isBad(states.get(from)) ? 'bad' : 'plain';
}

// The lines that are drawn only if a person asks for them: those on a failure that has not happened. A graph with few
// of them shows them as long as it may happen.
export function asideOf(lines: readonly EdgeLine[]): Set<string> {
  const unmet = lines.filter(({ edge }) => edge.on === 'failure' && edge.verdict !== 'met');
  const few = unmet.length <= FEW;
  const open = ({ edge }: EdgeLine) => edge.verdict === undefined || edge.verdict === 'open';
  return new Set(unmet.filter((line) => !(few && open(line))).map((line) => line.id));
}

// A key of all that the layout depends on, so that a refresh of the states moves nothing.
export const shapeOf = (nodes: readonly GraphNode[]): string =>
  JSON.stringify(nodes.map(({ id, after }) => [id, after.map((edge) => [edge.node, edge.on, edge.if])]));

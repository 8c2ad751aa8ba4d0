// Reads as much of a workflow that is being written as can be drawn. Pure.
import type { GraphEdge, GraphNode } from './layout';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function edgesOf(after: unknown): GraphEdge[] {
  if (!Array.isArray(after)) return [];
  return (after as unknown[]).map((one) => {
    const edge = isObject(one) ? one : { node: one };
    return {
      node: textOf(edge.node),
      on: textOf(edge.on) || 'success',
      if: textOf(edge.if) || null,
      recovers: edge.recovers === true,
    };
  });
}

// What a node without a job runs, by the name of its field.
const kindOf = (node: Record<string, unknown>): string =>
  ['task', 'approval', 'wait'].find((kind) => node[kind] !== undefined) ?? '';

// A node without an id, or with one that is taken, gets its place as id.
export function draftOf(workflow: unknown): (GraphNode & { name: string })[] {
  const nodes: unknown = isObject(workflow) ? workflow.nodes : undefined;
  if (!Array.isArray(nodes)) return [];
  const taken = new Set<string>();
  return (nodes as unknown[]).map((one, i) => {
    const node = isObject(one) ? one : {};
    const id = textOf(node.id);
    const shown = id && !taken.has(id) ? id : `${id}#${i + 1}`;
    taken.add(shown);
    return { id: shown, name: textOf(node.job) || kindOf(node), after: edgesOf(node.after) };
  });
}

// The place of the node that a mistake is in: "/workflow/nodes/3/after/0" is in node 3.
export function nodeOf(pointer: string): number | undefined {
  const found = /^\/workflow\/nodes\/(\d+)(\/|$)/.exec(pointer);
  return found ? Number(found[1]) : undefined;
}

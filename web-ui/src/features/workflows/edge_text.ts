// Texts about the nodes of a workflow.
import './texts.en';
import type { TFunction } from 'i18next';
import type { GraphEdge, GraphNode } from './layout';

// "audit (on failure, if exit_code == 3, recovers)"
export function edgeText(edge: GraphEdge, t: TFunction): string {
  const how = [
    edge.on === 'failure' ? t('nodes.on_failure') : edge.on === 'done' ? t('nodes.on_done') : '',
    edge.if ? t('nodes.if', { condition: edge.if }) : '',
    edge.recovers ? t('nodes.recovers') : '',
  ].filter(Boolean);
  return edge.node + (how.length > 0 ? ` (${how.join(', ')})` : '');
}

export const afterText = (node: GraphNode, t: TFunction): string =>
  node.after.map((edge) => edgeText(edge, t)).join(', ');

// The reason why a node has not been released: the open nodes before it, or max_parallel.
export function waitText(node: GraphNode & { finally?: boolean }, t: TFunction): string {
  const open = node.after.filter((edge) => edge.verdict === 'open').map((edge) => edge.node);
  if (open.length > 0) return t('nodes.waits_for', { nodes: open.join(', ') });
  return t(node.finally ? 'nodes.waits_others' : 'nodes.waits_turn');
}

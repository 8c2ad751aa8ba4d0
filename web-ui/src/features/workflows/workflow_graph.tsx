// Drawing of a workflow. Its nodes are links, which can be reached by keyboard. The table beside it has the
// same content for those who do not see it.
import './texts.en';
import { useMemo, type ReactNode } from 'react';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { edgeText } from './edge_text';
import { BOX, layoutOf, type GraphNode } from './layout';

export interface DrawnNode extends GraphNode {
  state?: string; // of its run; "BLOCKED" if it waits for other nodes
  name?: string | null; // of its job
  wrong?: boolean;
}

const FILLS: Record<string, string> = {
  COMPLETED: 'fill-ok-soft stroke-ok',
  FAILED: 'fill-bad-soft stroke-bad',
  TIMED_OUT: 'fill-bad-soft stroke-bad',
  LOST: 'fill-warn-soft stroke-warn',
  HELD: 'fill-warn-soft stroke-warn',
  RUNNING: 'fill-busy-soft stroke-busy',
};
const DASHES: Record<string, string> = { failure: '6 4', done: '2 3' };
const LETTERS = 22; // that fit into a box

const short = (text: string) => (text.length > LETTERS ? text.slice(0, LETTERS - 1) + '…' : text);

export function WorkflowGraph<T extends DrawnNode>(props: {
  nodes: readonly T[];
  // Wraps the drawing of a node into a link.
  link?: (node: T, drawing: ReactNode, label: string) => ReactNode;
}) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const { nodes } = props;
  const layout = useMemo(() => layoutOf(nodes), [nodes]);
  const stateText = (node: T) =>
    node.state === 'BLOCKED' ? t('nodes.blocked') : node.state ? textOr('state.', node.state) : '';
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable area must be reachable by keyboard
    <div className="overflow-auto" role="region" aria-label={t('nodes.graph_label')} tabIndex={0}>
      <svg width={layout.width} height={layout.height} className="block" role="group">
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto"
          >
            <path d="M0,0 L8,4 L0,8 z" className="fill-line-strong" />
          </marker>
        </defs>
        {layout.lines.map(({ from, to, path, edge }) => (
          <path
            key={from + ' ' + to}
            d={path}
            className={
              'fill-none ' +
              (edge.verdict === 'met'
                ? 'stroke-ok'
                : edge.verdict === 'failed'
                  ? 'stroke-bad'
                  : 'stroke-line-strong')
            }
            strokeWidth={1.5}
            strokeDasharray={DASHES[edge.on]}
            markerEnd="url(#arrow)"
          >
            <title>{edgeText(edge, t)}</title>
          </path>
        ))}
        {nodes.map((node, i) => {
          const box = layout.boxes[i]!;
          const label = [node.id, stateText(node)].filter(Boolean).join(', ');
          const drawing = (
            <>
              <title>{[label, node.name].filter(Boolean).join(' · ')}</title>
              <rect
                x={box.x}
                y={box.y}
                width={BOX.width}
                height={BOX.height}
                rx={8}
                strokeWidth={node.wrong ? 2 : 1}
                className={
                  node.wrong
                    ? 'fill-bad-soft stroke-bad'
                    : (FILLS[node.state ?? ''] ?? 'fill-surface stroke-line-strong')
                }
                strokeDasharray={node.state === 'SKIPPED' || node.state === 'BLOCKED' ? '3 3' : undefined}
              />
              <text x={box.x + 10} y={box.y + 19} className="fill-ink text-xs font-medium">
                {short(node.id)}
              </text>
              <text x={box.x + 10} y={box.y + 35} className="fill-muted text-xs">
                {short(stateText(node) || (node.name ?? ''))}
              </text>
            </>
          );
          return <g key={node.id}>{props.link ? props.link(node, drawing, label) : drawing}</g>;
        })}
      </svg>
    </div>
  );
}

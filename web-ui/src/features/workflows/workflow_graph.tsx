// Drawing of a workflow, which can be moved and zoomed. Its nodes are links, between which the arrow keys lead. The
// table beside it has the same content for those who do not see it.
import '@xyflow/react/dist/base.css';
import './texts.en';
import { MiniMap, ReactFlow, ReactFlowProvider, type Node as FlowNode, type NodeProps } from '@xyflow/react';
import { useMemo, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { StateShape } from '../../ui/state_badge';
import { LEAST_ZOOM, MOST_ZOOM, useFrame } from './graph_frame';
import { GraphLines } from './graph_lines';
import { GraphTools } from './graph_tools';
import { MARGIN, READABLE, asideOf, focusOf, linesOf, nextBox, shapeOf, type Size } from './graph_view';
import { BOX, layoutOf, type GraphNode, type Point } from './layout';

export interface DrawnNode extends GraphNode {
  state?: string; // of its run; "BLOCKED" if it waits for other nodes
  name?: string | null; // of its job
  wrong?: boolean;
}
// The properties of a link around the drawing of a node.
export interface NodeLink {
  className: string;
  'aria-label': string;
  tabIndex: number;
  draggable: false;
  children: ReactNode;
}
interface GraphProps<T extends DrawnNode> {
  nodes: readonly T[];
  link?: (node: T, props: NodeLink) => ReactNode;
  leads?: (node: T) => boolean; // false: the node is no link
}

const TONES: Record<string, readonly [fill: string, colour: string]> = {
  COMPLETED: ['bg-ok-soft border-ok', 'var(--ok)'],
  FAILED: ['bg-bad-soft border-bad', 'var(--bad)'],
  TIMED_OUT: ['bg-bad-soft border-bad', 'var(--bad)'],
  LOST: ['bg-warn-soft border-warn', 'var(--warn)'],
  HELD: ['bg-warn-soft border-warn', 'var(--warn)'],
  RUNNING: ['bg-busy-soft border-busy', 'var(--busy)'],
};
const WRONG = ['bg-bad-soft border-bad border-2', 'var(--bad)'] as const;
const PLAIN = ['bg-surface border-line-strong', 'var(--line-strong)'] as const;
const toneOfNode = (node: DrawnNode) => (node.wrong ? WRONG : (TONES[node.state ?? ''] ?? PLAIN));
const MAP = { width: 128, height: 80 }; // px
const STEP = 1.25; // of the zoom

interface Drawn extends Record<string, unknown> {
  drawing: ReactNode;
  colour: string;
}
const TYPES = { job: ({ data }: NodeProps<FlowNode<Drawn>>) => data.drawing };
// What the library would say about keys that are switched off here, in English.
const NO_TEXTS = {
  'node.a11yDescription.default': '',
  'node.a11yDescription.keyboardDisabled': '',
  'edge.a11yDescription.default': '',
};
// As an application it would take the keys of screen readers.
const notAnApplication = (element: HTMLElement | null) => element?.removeAttribute('role');
const NOTHING: ReadonlySet<string> = new Set();
const idAt = (target: EventTarget) => (target as HTMLElement).closest<HTMLElement>('[data-id]')?.dataset.id;

export function WorkflowGraph<T extends DrawnNode>(props: GraphProps<T>) {
  return (
    <ReactFlowProvider>
      <Drawing {...props} />
    </ReactFlowProvider>
  );
}

function Drawing<T extends DrawnNode>(props: GraphProps<T>) {
  const { t } = useTranslation();
  const { nodes } = props;
  const shape = shapeOf(nodes);
  // oxlint-disable-next-line react/exhaustive-deps -- `shape` is all of the nodes that the layout depends on
  const layout = useMemo(() => layoutOf(nodes), [shape]);
  const lines = useMemo(() => linesOf(layout.lines, nodes), [layout, nodes]);
  const aside = useMemo(() => asideOf(lines), [lines]);
  const states = useMemo(() => new Map(nodes.map((node) => [node.id, node.state])), [nodes]);
  const kinds = useMemo(() => [...new Set(lines.map(({ edge }) => edge.on))], [lines]);
  const [all, setAll] = useState(false);
  const [near, setNear] = useState<string | null>(null);
  const [full, setFull] = useState(false);
  const [pressed, setPressed] = useState(false);
  const [stop, setStop] = useState<string>();
  const frame = useFrame(layout, focusOf(nodes)?.id, full);
  const drawn = useDrawn(props, layout.boxes, stop);

  const onArrow = (key: string, region: HTMLElement, target: EventTarget): boolean => {
    const from = layout.boxes.find((box) => box.id === idAt(target));
    if (!from) return false;
    const links = new Map([...region.querySelectorAll('a')].map((one) => [idAt(one), one]));
    const to = nextBox(
      key,
      from,
      layout.boxes.filter(({ id }) => links.has(id)),
    );
    if (to) links.get(to.id)?.focus();
    return true;
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (key === 'Escape' && full) setFull(false);
    else if (key === '+' || key === '=') frame.zoomBy(STEP);
    else if (key === '-') frame.zoomBy(1 / STEP);
    else if (key === '0') frame.showAll();
    else if (!key.startsWith('Arrow') || !onArrow(key, event.currentTarget, event.target)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the keys are of the links in it
    <div
      className={full ? 'fixed inset-0 z-40 flex flex-col gap-2 bg-surface p-4' : 'flex flex-col gap-2'}
      role="region"
      aria-label={t('nodes.graph_label')}
      onKeyDown={onKeyDown}
    >
      <GraphTools
        kinds={kinds}
        aside={aside.size}
        all={all}
        onAll={setAll}
        full={full}
        onFull={setFull}
        onZoom={(sign) => frame.zoomBy(STEP ** sign)}
        onWhole={frame.showAll}
      />
      <div
        className={'group/graph w-full ' + (full ? 'min-h-0 grow' : 'shrink-0')}
        style={full ? undefined : heightOf(layout)}
        data-far={frame.isFar || undefined}
        onPointerDown={() => setPressed(true)}
        onPointerLeave={() => setPressed(false)}
        onFocus={({ target }) => {
          const id = idAt(target);
          if (id === undefined) return;
          setStop(id);
          setNear(id);
          if (target.matches(':focus-visible')) frame.show(id);
        }}
        onBlur={() => setNear(null)}
      >
        <ReactFlow
          ref={notAnApplication}
          nodes={drawn}
          nodeTypes={TYPES}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          deleteKeyCode={null}
          selectionKeyCode={null}
          multiSelectionKeyCode={null}
          panActivationKeyCode={null}
          zoomActivationKeyCode={null}
          zoomOnDoubleClick={false}
          // The wheel scrolls the page until a person has pressed into the graph. With Ctrl it always zooms.
          preventScrolling={full || pressed}
          minZoom={LEAST_ZOOM}
          maxZoom={MOST_ZOOM}
          ariaLabelConfig={NO_TEXTS}
          proOptions={{ hideAttribution: true }}
          onMoveStart={frame.onMoveStart}
          onNodeMouseEnter={(_event, node) => setNear(node.id)}
          onNodeMouseLeave={() => setNear(null)}
        >
          <GraphLines lines={lines} size={layout} states={states} aside={all ? NOTHING : aside} near={near} />
          {frame.hasMap && (
            <MiniMap
              pannable
              zoomable
              ariaLabel={t('nodes.map')}
              style={MAP}
              bgColor="var(--ground)"
              maskColor="color-mix(in srgb, var(--ink) 12%, transparent)"
              maskStrokeColor="var(--line-strong)"
              nodeColor={({ data }) => (data as Drawn).colour}
              className="overflow-hidden rounded border opacity-90"
            />
          )}
        </ReactFlow>
      </div>
    </div>
  );
}

// The height that the graph has at the width of the page, within limits.
const heightOf = ({ width, height }: Size) => ({
  aspectRatio: `${width + 2 * MARGIN} / ${height + 2 * MARGIN}`,
  maxHeight: `min(70dvh, ${height + 2 * MARGIN}px)`,
  minHeight: `min(60dvh, ${Math.ceil(height * READABLE) + 2 * MARGIN}px)`,
});

// The nodes as the library draws them. One of the links is a stop of the Tab key.
function useDrawn<T extends DrawnNode>(
  { nodes, link, leads }: GraphProps<T>,
  boxes: readonly Point[],
  stop?: string,
) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  return useMemo(() => {
    const isLink = (node: T) => link !== undefined && (leads === undefined || leads(node));
    const links = nodes.filter(isLink);
    const first = (links.find((node) => node.id === stop) ?? links[0])?.id;
    return nodes.map((node, i): FlowNode<Drawn> => {
      const state = node.state === 'BLOCKED' ? t('nodes.blocked') : textOr('state.', node.state);
      const label = [node.id, state].filter(Boolean).join(', ');
      const [fill, colour] = toneOfNode(node);
      const drawing = <NodeBox node={node} state={state} label={label} fill={fill} />;
      return {
        id: node.id,
        type: 'job',
        position: { x: boxes[i]!.x, y: boxes[i]!.y },
        ...BOX,
        measured: BOX,
        domAttributes: { 'aria-roledescription': undefined, 'aria-describedby': undefined },
        data: {
          colour,
          drawing: !isLink(node)
            ? drawing
            : link!(node, {
                className: 'block h-full rounded-lg text-ink no-underline',
                'aria-label': label,
                tabIndex: node.id === first ? 0 : -1,
                draggable: false,
                children: drawing,
              }),
        },
      };
    });
    // oxlint-disable-next-line react/exhaustive-deps -- `textOr` changes only with `t`
  }, [nodes, link, leads, boxes, stop, t]);
}

function NodeBox({
  node,
  state,
  label,
  fill,
}: {
  node: DrawnNode;
  state: string;
  label: string;
  fill: string;
}) {
  const waits = node.state === 'SKIPPED' || node.state === 'BLOCKED';
  return (
    <span
      title={[label, node.name].filter(Boolean).join(' · ')}
      className={`flex h-full items-center gap-1.5 rounded-lg border px-2 ${waits ? 'border-dashed' : ''} ${fill}`}
    >
      {node.state && (
        <StateShape
          state={node.state === 'BLOCKED' ? 'PENDING' : node.state}
          className="shrink-0 rounded-full"
        />
      )}
      <span className="min-w-0 grow text-xs leading-snug">
        <span className="block truncate font-medium group-data-far/graph:text-[15px]">{node.id}</span>
        <span className="block truncate text-muted group-data-far/graph:hidden">{state || node.name}</span>
      </span>
    </span>
  );
}

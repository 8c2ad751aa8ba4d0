// Lines of a workflow's graph, with the conditions of branches as labels.
import './texts.en';
import { ViewportPortal } from '@xyflow/react';
import { useTranslation } from '../../i18n/use_translation';
import { edgeText } from './edge_text';
import { toneOf, type EdgeLine, type Size, type Tone } from './graph_view';

const STROKES: Record<Tone, string> = { ok: 'stroke-ok', bad: 'stroke-bad', plain: 'stroke-line-strong' };
const HEADS: Record<Tone, string> = { ok: 'fill-ok', bad: 'fill-bad', plain: 'fill-line-strong' };
const DASHES: Record<string, string> = { failure: '6 4', done: '2 3' };

// `aside`: lines that are drawn only at the node that `near` names.
export function GraphLines(props: {
  lines: readonly EdgeLine[];
  size: Size;
  states: ReadonlyMap<string, string | undefined>;
  aside: ReadonlySet<string>;
  near: string | null;
}) {
  const { t } = useTranslation();
  const { near, size } = props;
  const drawn = props.lines
    .map((line) => ({ line, close: near !== null && (line.from === near || line.to === near) }))
    .filter(({ line, close }) => close || !props.aside.has(line.id));
  return (
    <ViewportPortal>
      <svg
        aria-hidden
        width={size.width}
        height={size.height}
        className="absolute top-0 left-0 -z-10 overflow-visible"
      >
        <defs>
          {(Object.keys(HEADS) as Tone[]).map((tone) => (
            <marker
              key={tone}
              id={'arrow-' + tone}
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              markerUnits="userSpaceOnUse"
              orient="auto"
            >
              <path d="M0,0 L8,4 L0,8 z" className={HEADS[tone]} />
            </marker>
          ))}
        </defs>
        {drawn.map(({ line, close }) => {
          const tone = toneOf(line, props.states);
          return (
            <path
              key={line.id}
              d={line.path}
              data-line={line.from + ' ' + line.to}
              className={`[pointer-events:visibleStroke] fill-none ${STROKES[tone]} ${near !== null && !close ? 'opacity-35' : ''}`}
              strokeWidth={close ? 2.5 : 1.5}
              strokeDasharray={DASHES[line.edge.on]}
              markerEnd={`url(#arrow-${tone})`}
            >
              <title>{edgeText(line.edge, t)}</title>
            </path>
          );
        })}
      </svg>
      {drawn
        .filter(({ line }) => line.edge.if)
        .map(({ line }) => (
          <span
            key={line.id}
            aria-hidden
            title={edgeText(line.edge, t)}
            className="mono absolute max-w-50 -translate-x-1/2 -translate-y-1/2 truncate rounded border bg-surface px-1 text-xs text-muted"
            style={{ left: line.label.x, top: line.label.y }}
          >
            {line.edge.if}
          </span>
        ))}
    </ViewportPortal>
  );
}

// A sample of a line, for the legend.
export function LineSample({ on }: { on: string }) {
  return (
    <svg aria-hidden width={28} height={8} className="shrink-0">
      <path d="M0,4 L28,4" className="stroke-line-strong" strokeWidth={1.5} strokeDasharray={DASHES[on]} />
    </svg>
  );
}

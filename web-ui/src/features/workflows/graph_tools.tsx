// Row above the graph of a workflow: what its lines mean, which of them are drawn, and the view.
import './texts.en';
import { useTranslation } from '../../i18n/use_translation';
import { LineSample } from './graph_lines';

// Shapes of Lucide (ISC). As icons they would come with the first page, because several parts load this one.
const SHAPES = {
  out: 'M5 12h14',
  in: 'M5 12h14M12 5v14',
  whole:
    'M3 8V5a2 2 0 0 1 2-2h3M16 3h3a2 2 0 0 1 2 2v3M21 16v3a2 2 0 0 1-2 2h-3M8 21H5a2 2 0 0 1-2-2v-3M8 9h8v6H8z',
  full: 'M15 3h6v6M21 3l-7 7M3 21l7-7M9 21H3v-6',
  small: 'M14 10l7-7M20 10h-6V4M3 21l7-7M4 14h6v6',
};
const KINDS = [
  ['failure', 'nodes.on_failure'],
  ['done', 'nodes.on_done'],
] as const;

export function GraphTools(props: {
  kinds: readonly string[]; // of the lines
  aside: number; // lines that are not drawn unless asked for
  all: boolean;
  onAll: (all: boolean) => void;
  full: boolean;
  onFull: (full: boolean) => void;
  onZoom: (sign: 1 | -1) => void;
  onWhole: () => void;
}) {
  const { t } = useTranslation();
  const { all, full } = props;
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      {KINDS.filter(([on]) => props.kinds.includes(on)).map(([on, text]) => (
        <span key={on} className="inline-flex items-center gap-1.5 text-xs text-muted">
          <LineSample on={on} />
          {t(text)}
        </span>
      ))}
      {props.aside > 0 && (
        <label className="inline-flex min-h-6 items-center gap-2 text-xs">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={all}
            onChange={(event) => props.onAll(event.target.checked)}
          />
          {t('nodes.all_failures', { count: props.aside })}
        </label>
      )}
      <span className="ml-auto inline-flex gap-1">
        <Tool shape="out" label={t('nodes.zoom_out')} onClick={() => props.onZoom(-1)} />
        <Tool shape="in" label={t('nodes.zoom_in')} onClick={() => props.onZoom(1)} />
        <Tool shape="whole" label={t('nodes.whole')} onClick={props.onWhole} />
        <Tool
          shape={full ? 'small' : 'full'}
          label={t('nodes.full')}
          pressed={full}
          onClick={() => props.onFull(!full)}
        />
      </span>
    </div>
  );
}

function Tool(props: { shape: keyof typeof SHAPES; label: string; pressed?: boolean; onClick: () => void }) {
  const { label } = props;
  return (
    <button
      type="button"
      className="button button-icon"
      aria-label={label}
      aria-pressed={props.pressed}
      title={label}
      onClick={props.onClick}
    >
      <svg aria-hidden width={15} height={15} viewBox="0 0 24 24" fill="none" stroke="currentColor">
        <path d={SHAPES[props.shape]} strokeWidth={2} strokeLinecap="round" strokeLinejoin="round" />
      </svg>
    </button>
  );
}

// The last runs of a job as small bars, oldest first. Height, shape and colour of a bar show how the run
// ended. The label of the bar says it in words. A click on the bar opens the run.
import '../../runs/list/texts.en';
import { Link } from '@tanstack/react-router';
import type { RecentRun } from '../../../api/types';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { absoluteTime, difference, span } from '../../../lib/format';
import { usePreferences } from '../../../lib/preferences';

const BAR = 9;
const STEP = 12; // px from one bar to the next; ten bars fit into a cell
const TALL = 24; // px; height of the area that can be clicked
// Each result has a different shape, for users who cannot distinguish the colours.
type Shape = readonly [height: number, fill: string, hollow: boolean, dashed?: boolean];
const SHAPES: Record<string, Shape> = {
  COMPLETED: [18, 'fill-ok stroke-ok', false],
  FAILED: [9, 'fill-bad stroke-bad', false],
  TIMED_OUT: [9, 'fill-bad stroke-bad', true],
  LOST: [13, 'fill-warn stroke-warn', true],
  HELD: [13, 'fill-warn stroke-warn', false],
  RUNNING: [18, 'stroke-busy', true],
  PENDING: [18, 'stroke-idle', true, true],
  CANCELLED: [4, 'fill-idle stroke-idle', false],
  SKIPPED: [4, 'stroke-idle', true],
};
const OTHER: Shape = [4, 'stroke-idle', true];

export default function RunStrip({
  runs,
  name,
  zone,
}: {
  runs: readonly RecentRun[];
  name: string;
  zone?: string;
}) {
  const { t } = useTranslation();
  if (runs.length === 0) return <span className="text-muted">–</span>;
  return (
    <svg
      role="list"
      aria-label={t('strip.label', { name })}
      width={runs.length * STEP}
      height={TALL}
      className="block overflow-visible"
      data-testid="strip"
    >
      {runs.toReversed().map((run, i) => (
        <g key={run.run_id} role="listitem" transform={`translate(${i * STEP} 0)`}>
          <RunBar run={run} zone={zone} />
        </g>
      ))}
    </svg>
  );
}

function RunBar({ run, zone }: { run: RecentRun; zone?: string }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const { language, time, zone: own } = usePreferences();
  const at = absoluteTime(
    Date.parse(run.fire_time),
    time === 'utc' ? 'UTC' : time === 'job' ? (zone ?? 'UTC') : own || undefined,
  );
  const took = difference(run.started_at, run.ended_at);
  const state = textOr('state.', run.state);
  const said =
    took === null
      ? t('strip.run', { state, at })
      : t('strip.run_took', { state, at, span: span(took, language) });
  const [height, fill, hollow, dashed] = SHAPES[run.state] ?? OTHER;
  return (
    <Link to="/runs/$id" params={{ id: run.run_id }} aria-label={said} preload={false} data-state={run.state}>
      <title>{said}</title>
      <rect width={STEP} height={TALL} fillOpacity={0} />
      <rect
        x={(STEP - BAR) / 2 + 0.75}
        y={TALL - 3 - height + 0.75}
        width={BAR - 1.5}
        height={height - 1.5}
        rx={1}
        strokeWidth={1.5}
        className={fill}
        fillOpacity={hollow ? 0 : 1}
        strokeDasharray={dashed ? '2 2' : undefined}
      />
    </Link>
  );
}

// Lateness and queues since this page was opened: lines and a table.
import '../audit/texts.en';
import './texts.en';
import { useEffect, useSyncExternalStore } from 'react';
import type { SystemStatus } from '../../api/types';
import { RANGES, type Range } from '../../lib/search_params';
import { useTranslation } from '../../i18n/use_translation';
import { count, span } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { Time } from '../../ui/time';
import { Card, TableFrame } from '../../ui/ui';
import { MEASURES, byMinute, sampleOf, stretches, withSample, type Measure, type Sample } from './samples';

const WIDTH = 600;
const HEIGHT = 40;
const TEXTS: Record<Measure, string> = {
  late: 'system.late_p99',
  overdue: 'system.overdue',
  pending: 'system.pending',
  running: 'system.running',
  lag: 'history.lag',
};

// The samples are kept for this tab. If another page was open meanwhile, the lines have a gap, but earlier
// samples are still shown.
let kept: readonly Sample[] = [];
const listeners = new Set<() => void>();

function keep(next: Sample): void {
  kept = withSample(kept, next);
  listeners.forEach((listener) => listener());
}

const useSamples = () =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => kept,
  );

interface Props {
  status: SystemStatus;
  readAt: number;
  range: Range | undefined;
  onRange: (next: Range | undefined) => void;
}

export function HistoryCard({ status, readAt, range, onRange }: Props) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const samples = useSamples();
  useEffect(() => keep(sampleOf(status, readAt)), [status, readAt]);
  const minutes = Number(range ?? '5');
  const from = readAt - minutes * 60_000;
  const shown = samples.filter((one) => one.at >= from);
  const text = (measure: Measure, value: number) =>
    measure === 'late' || measure === 'overdue' ? span(value, language) : count(value, language);
  const x = (at: number) => (Math.max(0, at - from) * WIDTH) / (readAt - from);
  return (
    <Card title={t('history.title')} flush>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 p-4 text-muted">
        <label className="flex items-center gap-2">
          {t('history.range')}
          <select
            className="input w-auto"
            value={range ?? '5'}
            onChange={(event) => onRange(RANGES.find((one) => one === event.target.value))}
          >
            {['5', ...RANGES].map((n) => (
              <option key={n} value={n}>
                {t('history.minutes', { n })}
              </option>
            ))}
          </select>
        </label>
        {samples.length > 0 && (
          <p>
            {t('history.since')} <Time at={new Date(samples[0]!.at).toISOString()} absolute />
          </p>
        )}
      </div>
      <dl className="grid gap-x-4 gap-y-3 px-4 pb-4 sm:grid-cols-2">
        {MEASURES.map((measure) => {
          const lines = stretches(shown, measure);
          const values = lines.flat().map((one) => one.value);
          const most = Math.max(...values);
          const y = (value: number) => HEIGHT - 1 - (value * (HEIGHT - 2)) / Math.max(1, most);
          return (
            <div key={measure} className="min-w-0">
              <dt className="text-muted">{t(TEXTS[measure])}</dt>
              <dd>
                <svg
                  viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
                  preserveAspectRatio="none"
                  aria-hidden
                  className="h-10 w-full rounded bg-code"
                  data-testid={'history-' + measure}
                >
                  {lines.map((line) => (
                    <polyline
                      key={line[0]!.at}
                      points={[...line, line.at(-1)!]
                        .map((one) => `${x(one.at).toFixed(1)},${y(one.value).toFixed(1)}`)
                        .join(' ')}
                      vectorEffect="non-scaling-stroke"
                      strokeWidth={1.5}
                      strokeLinecap="round"
                      className="fill-none stroke-ink"
                    />
                  ))}
                </svg>
                <span className="tabular-nums">
                  {values.length === 0
                    ? '–'
                    : t('history.values', { last: text(measure, values.at(-1)!), most: text(measure, most) })}
                </span>
              </dd>
            </div>
          );
        })}
      </dl>
      <details className="border-t px-4 py-2">
        <summary className="py-1 text-accent">{t('history.table')}</summary>
        <TableFrame label={t('history.table')}>
          <table className="table">
            <thead>
              <tr>
                <th scope="col">{t('audit.time')}</th>
                {MEASURES.map((measure) => (
                  <th key={measure} scope="col">
                    {t(TEXTS[measure])}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {byMinute(shown).map((one) => (
                <tr key={one.at}>
                  <td>
                    <Time at={new Date(one.at).toISOString()} absolute />
                  </td>
                  {MEASURES.map((measure) => (
                    <td key={measure} className="tabular-nums">
                      {one[measure] === null ? '–' : text(measure, one[measure])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </TableFrame>
      </details>
    </Card>
  );
}

// Durations of the last runs: bars with the median and the 95th percentile, and a table.
import './texts.en';
import { Link } from '@tanstack/react-router';
import { itemsOf, useRuns } from '../../../api/queries';
import type { Job } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { span } from '../../../lib/format';
import { usePreferences } from '../../../lib/preferences';
import { isAwaited, useTell } from '../../../lib/layout_hold';
import { Time } from '../../../ui/time';
import { Card, TableFrame } from '../../../ui/ui';
import { durationsOf, percentile } from './duration_values';
import { zoneOf } from '../../schedule/schedule_text';

const RUNS = 100;
const EVERY_MS = 10_000;
const HEIGHT = 60;

export default function Durations({ job, onKnown }: { job: Job; onKnown?: () => void }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const text = (ms: number) => span(ms, language);
  const runs = useRuns(
    { job_id: job.job_id, state: ['COMPLETED', 'FAILED', 'TIMED_OUT'], page_size: RUNS },
    EVERY_MS,
  );
  useTell(!isAwaited(runs), onKnown);
  const took = durationsOf(itemsOf(runs.data).slice(0, RUNS));
  if (took.length < 2) return null; // a single bar shows nothing useful
  const times = took.map((one) => one.ms);
  const most = Math.max(1, ...times);
  const p50 = percentile(times, 50);
  const p95 = percentile(times, 95);
  const y = (ms: number) => HEIGHT - (ms * HEIGHT) / most;
  return (
    <Card title={t('durations.title', { n: took.length })}>
      <svg
        viewBox={`0 0 ${took.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden
        className="h-20 w-full rounded bg-code"
        data-testid="durations"
      >
        {took.map((one, x) => (
          <rect
            key={one.run_id}
            x={x + 0.1}
            width={0.8}
            y={y(one.ms)}
            height={Math.max(1, HEIGHT - y(one.ms))}
            className={one.good ? 'fill-ok' : 'fill-bad'}
          />
        ))}
        {[p50, p95].map((ms, i) => (
          <line
            key={i}
            x1={0}
            x2={took.length}
            y1={y(ms)}
            y2={y(ms)}
            vectorEffect="non-scaling-stroke"
            strokeDasharray={i === 0 ? undefined : '4 3'}
            className="stroke-ink"
          />
        ))}
      </svg>
      <p className="mt-2 text-muted">
        {t('durations.percentiles', { p50: text(p50), p95: text(p95), most: text(most) })}
      </p>
      <details className="mt-2">
        <summary className="py-1 text-accent">{t('durations.table')}</summary>
        <TableFrame label={t('durations.table')}>
          <table className="table">
            <thead>
              <tr>
                <th scope="col">{t('runs.fire')}</th>
                <th scope="col">{t('runs.duration')}</th>
              </tr>
            </thead>
            <tbody>
              {took.toReversed().map((one) => (
                <tr key={one.run_id}>
                  <td>
                    <Link to="/runs/$id" params={{ id: one.run_id }} className="link">
                      <Time at={one.fire_time} zone={zoneOf(job)} absolute />
                    </Link>
                  </td>
                  <td className="tabular-nums">{text(one.ms)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableFrame>
      </details>
    </Card>
  );
}

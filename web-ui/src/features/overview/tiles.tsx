// Four numbers about the whole installation. Each number links to its details.
import './texts.en';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement, ReactNode } from 'react';
import { get } from '../../api/client';
import { CALM_MS, itemsOf, useEvery, useGaps } from '../../api/queries';
import { serverNow } from '../../lib/server_clock';
import type { Page, Run, SystemStatus } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { count, percent, span } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { MISSED, firesIn, successOf } from './tile_values';
import { dayBefore } from '../../lib/day_before';
import { BAD_STATES } from '../../api/types';

const ENDED = ['COMPLETED', ...BAD_STATES];
const READ_MAX = 500; // the largest page that the server returns
const dayAgo = () => dayBefore(serverNow());

export function Tiles({ status }: { status: SystemStatus }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const online = status.executors.ONLINE ?? 0;
  const away = Object.entries(status.executors).reduce(
    (sum, [state, n]) => (state === 'ONLINE' ? sum : sum + n),
    0,
  );
  return (
    <div className="mb-4 grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Success />
      <Tile
        to={<Link to="/runs" search={{ state: ['RUNNING'] }} />}
        label={t('tile.running')}
        value={status.runs_running === null ? '–' : count(status.runs_running, language)}
        under={t('tile.pending', {
          n: status.runs_pending === null ? '–' : count(status.runs_pending, language),
        })}
      />
      <Late status={status} />
      <Tile
        to={<Link to="/executors" />}
        label={t('tile.executors')}
        value={count(online, language)}
        under={away > 0 ? t('tile.away', { n: away }) : t('tile.all_online')}
        wide
      />
    </div>
  );
}

function Success() {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const refetchInterval = useEvery(CALM_MS);
  const ended = useQuery({
    queryKey: ['runs', 'ended', '24h'],
    queryFn: ({ signal }) =>
      get<Page<Run>>('runs', { state: ENDED, since: dayAgo(), page_size: READ_MAX }, signal),
    refetchInterval,
  });
  const { share, n, bounded } = successOf(ended.data);
  return (
    <Tile
      to={<Link to="/runs" search={{ state: ENDED, since: dayAgo() }} />}
      label={t('tile.success')}
      value={share === null ? '–' : percent(share, language)}
      under={t(bounded ? 'tile.success_last' : 'tile.success_day', { n: count(n, language) })}
    />
  );
}

// The first number is the 99th percentile of the lateness of starts. It links to the system page, as does the
// rest of the tile. The second number counts the missed fires and links to them.
function Late({ status }: { status: SystemStatus }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const asked = { since: dayAgo(), reason: [...MISSED] };
  const gaps = useGaps({ ...asked, page_size: READ_MAX });
  const fires = firesIn(itemsOf(gaps.data));
  const missed = count(fires, language) + (gaps.hasNextPage ? '+' : '');
  const late = status.late_ms.p99 === null ? '–' : span(status.late_ms.p99, language);
  return (
    <div className="card relative p-4 hover:border-line-strong max-sm:col-span-2">
      <Link
        to="/system"
        className="-mt-2 block min-h-7 pt-2 text-muted no-underline after:absolute after:inset-0"
      >
        {t('tile.late')}
      </Link>
      <span className="block text-2xl font-semibold tabular-nums">
        {late} <span className="text-muted">·</span>{' '}
        <Link
          to="/gaps"
          search={asked}
          className="link relative z-1 inline-block min-w-7"
          aria-label={t('tile.missed_named', { n: missed, count: fires })}
        >
          {missed}
        </Link>
      </span>
      <span className="block text-xs text-balance text-muted">{t('tile.late_under')}</span>
    </div>
  );
}

// `wide`: the tile takes the full width on a phone.
function Tile(props: { to: ReactNode; label: string; value: ReactNode; under: string; wide?: boolean }) {
  const link = props.to as ReactElement<Record<string, unknown>>;
  return (
    <link.type
      {...link.props}
      className={
        'card block p-4 text-ink no-underline hover:border-line-strong' +
        (props.wide ? ' max-sm:col-span-2' : '')
      }
    >
      <span className="block text-muted">{props.label}</span>
      <span className="block text-2xl font-semibold tabular-nums">{props.value}</span>
      <span className="block text-xs text-muted">{props.under}</span>
    </link.type>
  );
}

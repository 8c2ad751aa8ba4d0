// Card of the fires in the next hour, for any number of jobs. The scheduler's own code computes the fires.
import '../jobs/list/texts.en';
import './texts.en';
import '../schedule/texts.en';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Zap } from 'lucide-react';
import { get } from '../../api/client';
import { useEvery } from '../../api/queries';
import { serverNow } from '../../lib/server_clock';
import type { FireLoad } from '../../api/types';
import { useMay } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { count } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { isAwaited, useTell } from '../../lib/layout_hold';
import { Time } from '../../ui/time';
import { Card, LoadFailure, Loading } from '../../ui/ui';
import { useRunOrAsk } from '../jobs/actions/run_or_ask';
import { againIn } from './next_values';

const HOUR_MS = 3_600_000;
const SHOWN = 12;

function useNextHour() {
  const live = useEvery(1) !== false;
  return useQuery({
    // The key is below "jobs", so that the fires are read again when a job changes. No job has an empty id.
    queryKey: ['jobs', '', 'next hour'],
    queryFn: ({ signal }) => {
      const from = serverNow();
      const span = { from: new Date(from).toISOString(), until: new Date(from + HOUR_MS).toISOString() };
      return get<FireLoad>('schedules/load', { ...span, bucket: 'minute', by_job: 'true' }, signal);
    },
    refetchInterval: (query) => live && againIn(query.state.data, serverNow()),
  });
}

export default function NextFires({ onKnown }: { onKnown?: () => void }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const hour = useNextHour();
  useTell(!isAwaited(hour), onKnown);
  const items = hour.data?.items?.slice(0, SHOWN) ?? [];
  const rest = (hour.data?.jobs ?? 0) - items.length;
  return (
    <Card
      title={t('next.title')}
      flush
      className="self-start"
      actions={
        <Link to="/schedule" className="link">
          {t('nav.schedule')}
        </Link>
      }
    >
      {hour.isPending ? (
        <Loading />
      ) : !hour.data ? (
        <LoadFailure error={hour.error} onRetry={() => void hour.refetch()} />
      ) : items.length === 0 ? (
        <p className="p-8 text-center text-muted">{t('next.none')}</p>
      ) : (
        <>
          <ul data-testid="next">
            {items.map((one) => (
              <Line key={one.job_id} {...one} />
            ))}
          </ul>
          {rest > 0 && (
            <p className="border-t px-4 py-2 text-muted">
              {t('next.more', { n: count(rest, language), count: rest })}
            </p>
          )}
        </>
      )}
      {hour.data?.truncated && (
        <p className="border-t px-4 py-2 text-warn">{t('plan.truncated', { n: hour.data.jobs_read })}</p>
      )}
    </Card>
  );
}

function Line({ job_id, name, fires, first_fire_time: first }: NonNullable<FireLoad['items']>[number]) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const may = useMay('jobs:run');
  const runNow = useRunOrAsk({ id: job_id, name });
  return (
    <li className="flex items-center gap-3 border-b px-4 py-1.5 last:border-b-0">
      <Link
        to="/jobs/$id"
        params={{ id: job_id }}
        className="min-w-0 flex-1 truncate text-ink no-underline hover:underline"
      >
        {name}
      </Link>
      <span className="text-right text-muted">
        <Time at={first} />
        {fires > 1 && <span className="block text-xs">{t('next.times', { n: count(fires, language) })}</span>}
      </span>
      <button
        type="button"
        className="button button-icon"
        disabled={!may || runNow.isPending}
        aria-label={t('jobs.run_named', { name })}
        title={may ? t('jobs.run') : t('denied.write')}
        onClick={runNow.run}
      >
        <Zap aria-hidden size={15} />
      </button>
      {runNow.dialog}
    </li>
  );
}

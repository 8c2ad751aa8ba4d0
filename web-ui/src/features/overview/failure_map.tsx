// Heat map of failed runs in the last seven days, by day and hour. It is a table whose cells link to
// the runs.
import './texts.en';
import '../schedule/texts.en';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { get } from '../../api/client';
import { useEvery } from '../../api/queries';
import { serverNow } from '../../lib/server_clock';
import type { Page, Run } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { brief } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { Card, LoadFailure, Loading, TableFrame } from '../../ui/ui';
import { browserZone } from '../../lib/zones';
import { heat } from '../schedule/spread';
import { lastDays, perHour, type HourOfFailures } from './failures';
import { BAD_STATES } from '../../api/types';

const EVERY_MS = 60_000;
const PAGE_SIZE = 500;
const PAGES_MAX = 4;
const HOUR_MS = 3_600_000;

interface Failures {
  times: string[];
  more: boolean;
}

async function readFailures(since: string, signal: AbortSignal): Promise<Failures> {
  const times: string[] = [];
  let token: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const read: Page<Run> = await get<Page<Run>>(
      'runs',
      { state: BAD_STATES, since, page_size: PAGE_SIZE, page_token: token },
      signal,
    );
    times.push(...read.items.map((run) => run.fire_time));
    if (read.next_page_token === null) return { times, more: false };
    token = read.next_page_token;
  }
  return { times, more: true };
}

export default function FailureMap() {
  const { t } = useTranslation();
  const { zone: own } = usePreferences();
  const zone = own || browserZone();
  const days = lastDays(serverNow(), zone);
  const refetchInterval = useEvery(EVERY_MS);
  const failures = useQuery({
    queryKey: ['runs', 'failures', days[0], zone],
    queryFn: ({ signal }) =>
      readFailures(new Date(Date.parse(days[0] + 'T00:00Z') - 15 * HOUR_MS).toISOString(), signal),
    refetchInterval,
  });
  return (
    <Card title={t('failures.title')} flush>
      {failures.isPending ? (
        <Loading />
      ) : !failures.data ? (
        <LoadFailure error={failures.error} onRetry={() => void failures.refetch()} />
      ) : (
        <Hours days={days} hours={perHour(failures.data.times, zone)} more={failures.data.more} />
      )}
    </Card>
  );
}

function Hours({ days, hours, more }: { days: string[]; hours: Map<string, HourOfFailures>; more: boolean }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const most = Math.max(1, ...[...hours.values()].map((one) => one.count));
  const weekdays = new Intl.DateTimeFormat(language, { timeZone: 'UTC', weekday: 'short', day: '2-digit' });
  const weekday = (day: string) => weekdays.format(Date.parse(day));
  return (
    <>
      {more && (
        <p role="status" className="px-4 pt-3 text-warn">
          {t('failures.more', { n: PAGE_SIZE * PAGES_MAX })}
        </p>
      )}
      <TableFrame label={t('failures.title')}>
        <table className="table plan" data-testid="failures">
          <thead>
            <tr>
              <th scope="col">{t('plan.day')}</th>
              {Array.from({ length: 24 }, (_, hour) => (
                <th key={hour} scope="col">
                  {String(hour).padStart(2, '0')}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.map((day) => (
              <tr key={day}>
                <th scope="row" className="whitespace-nowrap">
                  {weekday(day)}
                </th>
                {Array.from({ length: 24 }, (_, i) => {
                  const one = hours.get(`${day} ${i}`);
                  return (
                    <td key={i} className={'heat-bad-' + heat(one?.count ?? 0, most)}>
                      {one && (
                        <Link
                          to="/runs"
                          search={{
                            state: [...BAD_STATES],
                            since: new Date(one.from).toISOString(),
                            until: new Date(one.until).toISOString(),
                          }}
                          className="flex min-h-6 min-w-6 items-center justify-center text-ink"
                          aria-label={t('failures.cell', { day, hour: i, n: one.count, count: one.count })}
                        >
                          {brief(one.count, language)}
                        </Link>
                      )}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
    </>
  );
}

// Results of the last twelve weeks: a calendar and a table with the same data. Each day of the calendar links
// to its runs.
import './texts.en';
import '../../schedule/texts.en';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { get } from '../../../api/client';
import { useEvery } from '../../../api/queries';
import { serverNow } from '../../../lib/server_clock';
import type { Job, Page, Run } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { brief, count, percent, span } from '../../../lib/format';
import { usePreferences } from '../../../lib/preferences';
import { Time } from '../../../ui/time';
import { Card, LoadFailure, Loading, TableFrame } from '../../../ui/ui';
import { addDays, instantIn, localIn } from '../../../lib/zones';
import { heat } from '../../schedule/spread';
import {
  ENDED,
  IN_TIME_MS,
  WEEKS,
  punctualityOf,
  outcomesByDay,
  successOfLast,
  weeksTo,
  type DayOutcomes,
} from './outcome_calendar_values';
import { zoneOf } from '../../schedule/schedule_text';

const EVERY_MS = 60_000;
const SELDOM = 5; // factor of the refresh interval if a job has too many runs to read all
const PAGE_SIZE = 500;
const PAGES_MAX = 4;

interface Ends {
  runs: Run[];
  back: string | null;
}

// Reads the runs that have ended. `back` is the time before which runs were not read; null if all runs
// were read.
export async function readOutcomes(job: string, since: string, signal?: AbortSignal): Promise<Ends> {
  const runs: Run[] = [];
  let token: string | undefined;
  let back: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const read: Page<Run> = await get<Page<Run>>(
      'runs',
      { job_id: job, state: ENDED, since, page_size: PAGE_SIZE, page_token: token },
      signal,
    );
    runs.push(...read.items);
    if (read.next_page_token === null) return { runs, back: null };
    token = read.next_page_token;
    back = read.searched_to ?? runs.at(-1)?.fire_time ?? back;
  }
  return { runs, back };
}

export default function EndsCard({ job }: { job: Job }) {
  const { t } = useTranslation();
  const zone = zoneOf(job);
  const weeks = weeksTo(serverNow(), zone);
  const first = weeks[0]![0]!;
  const refetchInterval = useEvery(EVERY_MS);
  // The range begins a day earlier, because a run that fired on the day before may have ended on the first
  // day. The key is not below "runs", because so many runs must not be read again at every change.
  const since = new Date(instantIn(zone, addDays(first, -1))).toISOString();
  const ends = useQuery({
    queryKey: ['jobs', job.job_id, 'ends', since],
    queryFn: ({ signal }) => readOutcomes(job.job_id, since, signal),
    refetchInterval: (query) => refetchInterval && refetchInterval * (query.state.data?.back ? SELDOM : 1),
  });
  // Without runs there is no calendar. Another card of the page says that there are no runs.
  if (ends.data?.runs.length === 0 && ends.data.back === null) return null;
  return (
    <Card title={t('ends.title', { n: WEEKS })} flush>
      {ends.isPending ? (
        <Loading />
      ) : !ends.data ? (
        <LoadFailure error={ends.error} onRetry={() => void ends.refetch()} />
      ) : (
        <Calendar job={job} ends={ends.data} weeks={weeks} zone={zone} />
      )}
    </Card>
  );
}

function Calendar({
  job,
  ends,
  weeks,
  zone,
}: {
  job: Job;
  ends: Ends;
  weeks: (string | null)[][];
  zone: string;
}) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const days = outcomesByDay(ends.runs, zone);
  const shown = weeks.flat().filter((day): day is string => day !== null);
  const most = Math.max(1, ...shown.map((day) => (days.get(day)?.good ?? 0) + (days.get(day)?.bad ?? 0)));
  const backDay = ends.back === null ? '' : localIn(zone, Date.parse(ends.back)).slice(0, 10);
  const { share, n } = successOfLast(ends.runs);
  const inTimeMs = (job.notify?.late_after_s ?? 0) * 1000 || IN_TIME_MS;
  const begun = punctualityOf(ends.runs, inTimeMs);
  const weekday = (i: number) =>
    new Intl.DateTimeFormat(language, { timeZone: 'UTC', weekday: 'short' }).format(Date.UTC(2026, 0, 5 + i));
  const dates = new Intl.DateTimeFormat(language, { timeZone: 'UTC', month: '2-digit', day: '2-digit' });
  const date = (day: string) => dates.format(Date.parse(day));
  return (
    <>
      <p className="px-4 pt-3 text-muted" data-testid="ends-sum">
        {share !== null && t('ends.sum', { share: percent(share, language), n: count(n, language) })}{' '}
        {begun.share !== null &&
          t('ends.begun', {
            share: percent(begun.share, language),
            n: count(begun.n, language),
            within: span(inTimeMs, language),
            latest: span(begun.latest, language),
          })}{' '}
        {t('ends.legend')}
      </p>
      {ends.back !== null && (
        <p role="status" className="px-4 pt-2 text-warn">
          {t('ends.back', { n: count(ends.runs.length, language) })}{' '}
          <Time at={ends.back} zone={zone} absolute />
        </p>
      )}
      <TableFrame label={t('ends.title', { n: WEEKS })}>
        <table className="table plan" data-testid="ends">
          <thead>
            <tr>
              <th scope="col">{t('ends.week')}</th>
              {weeks.map((week) => (
                <th key={week[0]} scope="col">
                  {date(week[0]!)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {[0, 1, 2, 3, 4, 5, 6].map((i) => (
              <tr key={i}>
                <th scope="row">{weekday(i)}</th>
                {weeks.map((week) => {
                  const day = week[i] ?? null;
                  return (
                    <Day
                      key={week[0]}
                      job={job}
                      day={day}
                      ends={day ? days.get(day) : undefined}
                      most={most}
                      zone={zone}
                      unread={day !== null && day < backDay}
                      part={day !== null && day === backDay}
                    />
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
      <AsTable days={days} shown={shown} />
    </>
  );
}

function Day(props: {
  job: Job;
  day: string | null;
  ends: DayOutcomes | undefined;
  most: number;
  zone: string;
  unread: boolean;
  part: boolean;
}) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const { day, ends } = props;
  if (props.unread && !ends)
    return (
      <td className="text-muted" title={t('ends.unread')}>
        ?
      </td>
    );
  if (!day || !ends) return <td>{null}</td>;
  const all = ends.good + ends.bad;
  const text = ends.bad > 0 ? `${brief(ends.bad, language)}/${brief(all, language)}` : brief(all, language);
  const at = (which: string) => new Date(instantIn(props.zone, which)).toISOString();
  return (
    <td className={ends.bad > 0 ? 'heat-bad-' + heat(ends.bad, all) : 'heat-' + heat(all, props.most)}>
      <Link
        to="/runs"
        search={{ job_id: props.job.job_id, state: [...ENDED], since: at(day), until: at(addDays(day, 1)) }}
        className="flex min-h-6 min-w-6 items-center justify-center px-1 text-ink"
        aria-label={t('ends.cell', { day, all, bad: ends.bad })}
      >
        {text}
        {(props.part || props.unread) && '+'}
      </Link>
    </td>
  );
}

function AsTable({ days, shown }: { days: Map<string, DayOutcomes>; shown: readonly string[] }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  return (
    <details className="border-t px-4 py-2">
      <summary className="py-1 text-accent">{t('ends.table')}</summary>
      <TableFrame label={t('ends.table')}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{t('plan.day')}</th>
              <th scope="col">{t('ends.good')}</th>
              <th scope="col">{t('ends.bad')}</th>
            </tr>
          </thead>
          <tbody>
            {shown
              .filter((day) => days.has(day))
              .toReversed()
              .map((day) => (
                <tr key={day}>
                  <th scope="row">{day}</th>
                  <td className="tabular-nums">{count(days.get(day)!.good, language)}</td>
                  <td className="tabular-nums">{count(days.get(day)!.bad, language)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </TableFrame>
    </details>
  );
}

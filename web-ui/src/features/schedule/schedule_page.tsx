// Calendar of all fires: a day or a week, the number of fires at each time, and the jobs of an hour.
import '../jobs/form/texts.en';
import '../jobs/list/texts.en';
import './texts.en';
import { Link, getRouteApi } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight, Plus } from 'lucide-react';
import { Suspense, lazy, useState } from 'react';
import { serverNow } from '../../lib/server_clock';
import type { FireLoad } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { brief, count } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { Card, EmptyYet, LoadFailure, Loading, PageHeader, Segments, TableFrame } from '../../ui/ui';
import { addDays, browserZone, isZone, localIn } from '../../lib/zones';
import { ZoneOptions } from '../../ui/zone_options';
import { bars, byDay, heat, isDate, spanOf, type Span } from './spread';
import { useLoad } from './use_load';

const route = getRouteApi('/schedule');
const WhatIfCard = lazy(() => import('./what_if_card'));
const BAND_HEIGHT = 60;
const TIMES_SHOWN = 8;
const HOUR_MS = 3_600_000;

export function SchedulePage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const { zone: own } = usePreferences();
  const zone = search.zone && isZone(search.zone) ? search.zone : own || browserZone();
  const view = search.view ?? 'day';
  const today = localIn(zone, serverNow()).slice(0, 10);
  const date = isDate(search.date) ? search.date : today;
  const span = spanOf(view, date, zone);
  const hours = useLoad({ from: span.from, until: span.until, bucket: 'hour', by_job: 'true' });
  const load = hours.data;
  return (
    <>
      <PageHeader
        title={t('nav.schedule')}
        documentTitle={t('nav.schedule')}
        under={t('plan.under', { zone })}
      />
      <Controls view={view} date={date} today={today} zone={zone} />
      {hours.isPending ? (
        <Loading />
      ) : !load ? (
        <LoadFailure error={hours.error} onRetry={() => void hours.refetch()} />
      ) : load.jobs_read === 0 ? (
        <div className="card">
          <EmptyYet
            title={t('jobs.none')}
            hint={t('jobs.none_hint')}
            action={
              <Link to="/jobs/new" className="button button-primary">
                <Plus aria-hidden size={16} />
                {t('jobs.new')}
              </Link>
            }
          />
        </div>
      ) : (
        <div className="grid gap-4" aria-busy={hours.isPlaceholderData}>
          {load.truncated && (
            <p role="status" className="rounded-md bg-warn-soft px-4 py-2.5 text-warn">
              {t('plan.truncated', { n: load.jobs_read })}
            </p>
          )}
          <Density span={span} view={view} hours={load} zone={zone} />
          {load.jobs === 0 ? (
            <NothingThen view={view} />
          ) : view === 'week' ? (
            <Week load={load} zone={zone} />
          ) : (
            <Day load={load} zone={zone} />
          )}
          {search.hour && <HourCard hour={search.hour} zone={zone} />}
          <Suspense>
            <WhatIfCard zone={zone} />
          </Suspense>
        </div>
      )}
    </>
  );
}

function Controls(props: { view: 'day' | 'week'; date: string; today: string; zone: string }) {
  const { t } = useTranslation();
  const navigate = route.useNavigate();
  const [zone, setZone] = useState(props.zone);
  const go = (change: { view?: 'day' | 'week'; date?: string; zone?: string }) =>
    void navigate({ search: (before) => ({ ...before, hour: undefined, ...change }) });
  const step = props.view === 'day' ? 1 : 7;
  const wrong = !isZone(zone.trim());
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <Segments
        label={t('form.view')}
        value={props.view}
        choices={[
          { value: 'day', label: t('plan.day') },
          { value: 'week', label: t('plan.week') },
        ]}
        onChange={(view) => go({ view: view === 'week' ? 'week' : undefined })}
      />
      <button
        type="button"
        className="button button-icon"
        aria-label={t('plan.before')}
        onClick={() => go({ date: addDays(props.date, -step) })}
      >
        <ChevronLeft aria-hidden size={16} />
      </button>
      <input
        type="date"
        className="input w-40"
        aria-label={t('plan.date')}
        value={props.date}
        onChange={(event) => isDate(event.target.value) && go({ date: event.target.value })}
      />
      <button
        type="button"
        className="button button-icon"
        aria-label={t('plan.after')}
        onClick={() => go({ date: addDays(props.date, step) })}
      >
        <ChevronRight aria-hidden size={16} />
      </button>
      <button
        type="button"
        className="button"
        disabled={props.date === props.today}
        onClick={() => go({ date: undefined })}
      >
        {t('plan.today')}
      </button>
      <input
        className="input w-52"
        list="plan-zones"
        aria-label={t('form.zone')}
        aria-invalid={wrong ? true : undefined}
        spellCheck={false}
        value={zone}
        onChange={(event) => {
          setZone(event.target.value);
          if (isZone(event.target.value.trim())) go({ zone: event.target.value.trim() });
        }}
      />
      <ZoneOptions id="plan-zones" />
    </div>
  );
}

function NothingThen({ view }: { view: 'day' | 'week' }) {
  const { t } = useTranslation();
  return (
    <div className="card p-8 text-center text-muted">
      {t(view === 'day' ? 'plan.none_day' : 'plan.none_week')}
    </div>
  );
}

// Chart of the fires. For a day it counts them by minute. The table below the chart has the same
// numbers by hour.
function Density({
  span,
  view,
  hours,
  zone,
}: {
  span: Span;
  view: 'day' | 'week';
  hours: FireLoad;
  zone: string;
}) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const minutes = useLoad({ from: span.from, until: span.until, bucket: view === 'day' ? 'minute' : 'hour' });
  const load = minutes.data && minutes.data.from === hours.from ? minutes.data : hours;
  const fires = hours.buckets.reduce((sum, one) => sum + one.fires, 0);
  const share = (serverNow() - Date.parse(span.from)) / (Date.parse(span.until) - Date.parse(span.from));
  const width = load.buckets.length;
  return (
    <Card title={t('plan.density')}>
      <svg
        viewBox={`0 0 ${width} ${BAND_HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden
        className="h-16 w-full rounded bg-code text-accent"
        data-testid="density"
      >
        <path d={bars(load.buckets, BAND_HEIGHT)} fill="currentColor" />
        {share > 0 && share < 1 && (
          <rect x={share * width} y={0} width={width / 600} height={BAND_HEIGHT} className="fill-bad" />
        )}
      </svg>
      <p className="mt-2 text-muted" data-testid="sum">
        {t('plan.sum', { fires: count(fires, language), jobs: count(hours.jobs, language) })}{' '}
        {load.busiest &&
          t(view === 'day' ? 'plan.busiest_minute' : 'plan.busiest_hour', {
            at: localIn(zone, Date.parse(load.busiest.start)).replace('T', ' '),
            fires: count(load.busiest.fires, language),
          })}
      </p>
    </Card>
  );
}

function Day({ load, zone }: { load: FireLoad; zone: string }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const hours = [...byDay(load.buckets, zone).values()].flat();
  const items = load.items ?? [];
  const most = Math.max(1, ...items.flatMap((job) => job.buckets.map((one) => one.fires)));
  return (
    <Card title={t('plan.by_job')} flush>
      <TableFrame label={t('plan.by_job')}>
        <table className="table plan">
          <thead>
            <tr>
              <th scope="col" className="sticky left-0 bg-surface">
                {t('jobs.name')}
              </th>
              {hours.map((hour) => (
                <th key={hour.start} scope="col">
                  <HourLink
                    start={hour.start}
                    label={hour.label}
                    text={hour.label.slice(0, 2)}
                    fires={hour.fires}
                  />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {items.map((job) => {
              const fires = new Map(job.buckets.map((one) => [one.start, one.fires]));
              return (
                <tr key={job.job_id}>
                  <th scope="row" className="sticky left-0 max-w-48 truncate bg-surface">
                    <Link to="/jobs/$id" params={{ id: job.job_id }} className="link">
                      {job.name}
                    </Link>
                  </th>
                  {hours.map((hour) => {
                    const n = fires.get(hour.start) ?? 0;
                    return (
                      <td key={hour.start} className={'heat-' + heat(n, most)} title={count(n, language)}>
                        {n > 0 && brief(n, language)}
                      </td>
                    );
                  })}
                </tr>
              );
            })}
          </tbody>
        </table>
      </TableFrame>
      {load.jobs > items.length && (
        <p className="border-t p-3 text-muted">{t('plan.more_jobs', { n: load.jobs - items.length })}</p>
      )}
    </Card>
  );
}

function Week({ load, zone }: { load: FireLoad; zone: string }) {
  const { t } = useTranslation();
  const days = [...byDay(load.buckets, zone)];
  const most = Math.max(1, ...load.buckets.map((one) => one.fires));
  return (
    <Card title={t('plan.by_hour')} flush>
      <TableFrame label={t('plan.by_hour')}>
        <table className="table plan">
          <thead>
            <tr>
              <th scope="col" className="sticky left-0 bg-surface">
                {t('plan.day')}
              </th>
              {Array.from({ length: 24 }, (_, hour) => (
                <th key={hour} scope="col">
                  {String(hour).padStart(2, '0')}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.map(([day, hours]) => (
              <tr key={day}>
                <th scope="row" className="sticky left-0 bg-surface">
                  <DayLink day={day} />
                </th>
                {Array.from({ length: 24 }, (_, i) => {
                  // If a clock change repeats an hour, both hours share one cell. If it skips an hour, the
                  // cell is empty.
                  const same = hours.filter((hour) => +hour.label.slice(0, 2) === i);
                  const fires = same.reduce((sum, hour) => sum + hour.fires, 0);
                  return (
                    <td key={i} className={'heat-' + heat(fires, most)}>
                      {fires > 0 && (
                        <HourLink
                          start={same.find((hour) => hour.fires > 0)!.start}
                          label={`${day} ${same[0]!.label}`}
                          fires={fires}
                        />
                      )}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
    </Card>
  );
}

function DayLink({ day }: { day: string }) {
  const { language } = usePreferences();
  const text = new Intl.DateTimeFormat(language, {
    timeZone: 'UTC',
    weekday: 'short',
    day: '2-digit',
    month: '2-digit',
  }).format(Date.parse(day));
  return (
    <Link
      to="/schedule"
      search={(before) => ({ ...before, view: undefined, hour: undefined, date: day })}
      className="link whitespace-nowrap"
    >
      {text}
    </Link>
  );
}

function HourLink(props: { start: string; label: string; fires: number; text?: string }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const fires = count(props.fires, language);
  return (
    <Link
      from="/schedule"
      to="/schedule"
      search={(before) => ({ ...before, hour: props.start })}
      resetScroll={false}
      className="flex min-h-6 min-w-6 items-center justify-center text-ink"
      aria-label={t('plan.hour_named', { at: props.label, fires })}
    >
      {props.text ?? brief(props.fires, language)}
    </Link>
  );
}

function HourCard({ hour, zone }: { hour: string; zone: string }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const from = Date.parse(hour);
  const valid = !Number.isNaN(from);
  const load = useLoad({
    from: hour,
    until: valid ? new Date(from + HOUR_MS).toISOString() : hour,
    bucket: 'minute',
    by_job: 'true',
  });
  const clock = (at: string) => localIn(zone, Date.parse(at)).slice(11);
  const items = load.data?.items ?? [];
  return (
    <Card title={t('plan.hour', { at: valid ? localIn(zone, from).replace('T', ' ') : hour })} flush>
      {load.isPending ? (
        <Loading />
      ) : !load.data ? (
        <LoadFailure error={load.error} onRetry={() => void load.refetch()} />
      ) : items.length === 0 ? (
        <p className="p-4 text-muted">{t('plan.none_hour')}</p>
      ) : (
        <TableFrame label={t('plan.in_hour')}>
          <table className="table" data-testid="hour">
            <thead>
              <tr>
                <th scope="col">{t('jobs.name')}</th>
                <th scope="col">{t('plan.fires')}</th>
                <th scope="col">{t('plan.minutes')}</th>
              </tr>
            </thead>
            <tbody>
              {items.map((job) => (
                <tr key={job.job_id}>
                  <td>
                    <Link to="/jobs/$id" params={{ id: job.job_id }} className="link">
                      {job.name}
                    </Link>
                  </td>
                  <td className="tabular-nums">{count(job.fires, language)}</td>
                  <td className="tabular-nums">
                    {job.buckets
                      .slice(0, TIMES_SHOWN)
                      .map((one) => clock(one.start))
                      .join(', ')}
                    {job.buckets.length > TIMES_SHOWN &&
                      ' ' + t('schedule.more', { n: job.buckets.length - TIMES_SHOWN })}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableFrame>
      )}
    </Card>
  );
}

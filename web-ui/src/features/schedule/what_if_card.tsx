// Counts the fires that a pause of the whole cluster would skip. Changes nothing.
import './texts.en';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { useTranslation } from '../../i18n/use_translation';
import { count } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { Card, LoadFailure, Loading, TableFrame } from '../../ui/ui';
import { localIn } from '../../lib/zones';
import { heat } from './spread';
import { useLoad } from './use_load';
import { HOURS_MAX, missedIn, windowOf, type Missed } from './what_if_values';

const route = getRouteApi('/schedule');
const isTime = (text: string | undefined): text is string =>
  text !== undefined && !Number.isNaN(Date.parse(text));

export default function WhatIfCard({ zone }: { zone: string }) {
  const { t } = useTranslation();
  const { pause_from: from, pause_until: until } = route.useSearch();
  const given = isTime(from) && isTime(until);
  return (
    <Card title={t('what_if.title')}>
      <p className="mb-3 max-w-prose text-muted">{t('what_if.explain')}</p>
      <Fields
        key={`${from} ${until} ${zone}`}
        from={given ? localIn(zone, Date.parse(from)) : ''}
        until={given ? localIn(zone, Date.parse(until)) : ''}
        zone={zone}
        given={given}
      />
      {given && <Answer from={from} until={until} zone={zone} />}
    </Card>
  );
}

function Fields(props: { from: string; until: string; zone: string; given: boolean }) {
  const { t } = useTranslation();
  const navigate = route.useNavigate();
  const [from, setFrom] = useState(props.from);
  const [until, setUntil] = useState(props.until);
  const [error, setError] = useState('');
  const put = (change: { pause_from?: string; pause_until?: string }) =>
    void navigate({ search: (before) => ({ ...before, ...change }), resetScroll: false });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const window = windowOf(from, until, props.zone);
    if (typeof window === 'string') return setError(t(`what_if.${window}`, { n: HOURS_MAX / 24 }));
    setError('');
    put({
      pause_from: new Date(window.from).toISOString(),
      pause_until: new Date(window.until).toISOString(),
    });
  };
  return (
    <form noValidate onSubmit={submit} className="flex flex-wrap items-end gap-2">
      {(
        [
          ['what_if.from', from, setFrom],
          ['what_if.until', until, setUntil],
        ] as const
      ).map(([label, value, set]) => (
        <label key={label} className="grid gap-1">
          <span>{t(label, { zone: props.zone })}</span>
          <input
            type="datetime-local"
            className="input w-52"
            value={value}
            aria-invalid={error ? true : undefined}
            onChange={(event) => set(event.target.value)}
          />
        </label>
      ))}
      <button type="submit" className="button">
        {t('what_if.show')}
      </button>
      {props.given && (
        <button
          type="button"
          className="button button-plain"
          onClick={() => put({ pause_from: undefined, pause_until: undefined })}
        >
          {t('what_if.clear')}
        </button>
      )}
      {error && (
        <p role="alert" className="w-full text-bad">
          {error}
        </p>
      )}
    </form>
  );
}

function Answer({ from, until, zone }: { from: string; until: string; zone: string }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const load = useLoad({ from, until, bucket: 'hour', by_job: 'true' });
  if (load.isPending) return <Loading />;
  if (!load.data) return <LoadFailure error={load.error} onRetry={() => void load.refetch()} />;
  const missed = missedIn(load.data, zone);
  return (
    <div className="mt-4" aria-busy={load.isPlaceholderData}>
      {load.data.truncated && (
        <p role="status" className="mb-2 text-warn">
          {t('plan.truncated', { n: load.data.jobs_read })}
        </p>
      )}
      <p role="status" className="font-medium" data-testid="what-if">
        {missed.fires === 0
          ? t('what_if.none')
          : t('what_if.sum', { fires: count(missed.fires, language), jobs: count(load.data.jobs, language) })}
      </p>
      {missed.fires > 0 && <Tables missed={missed} />}
    </div>
  );
}

function Tables({ missed }: { missed: Missed }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const most = Math.max(...missed.hours.map((one) => one.fires));
  return (
    <div className="mt-3 grid items-start gap-4 lg:grid-cols-2">
      <TableFrame label={t('what_if.by_hour')}>
        <table className="table" data-testid="what-if-hours">
          <thead>
            <tr>
              <th scope="col">{t('what_if.hour')}</th>
              <th scope="col">{t('plan.fires')}</th>
            </tr>
          </thead>
          <tbody>
            {missed.hours.map((one) => (
              <tr key={one.start}>
                <td className="tabular-nums">{one.label}</td>
                <td className={'tabular-nums heat-' + heat(one.fires, most)}>{count(one.fires, language)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
      <div>
        <TableFrame label={t('what_if.by_job')}>
          <table className="table" data-testid="what-if-jobs">
            <thead>
              <tr>
                <th scope="col">{t('jobs.name')}</th>
                <th scope="col">{t('plan.fires')}</th>
              </tr>
            </thead>
            <tbody>
              {missed.jobs.map((one) => (
                <tr key={one.job_id}>
                  <td>
                    <Link to="/jobs/$id" params={{ id: one.job_id }} className="link">
                      {one.name}
                    </Link>
                  </td>
                  <td className="tabular-nums">{count(one.fires, language)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableFrame>
        {missed.more > 0 && (
          <p className="p-3 text-muted">{t('what_if.more', { n: count(missed.more, language) })}</p>
        )}
      </div>
    </div>
  );
}

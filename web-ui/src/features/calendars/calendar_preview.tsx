// Preview of a calendar: the times of the next 60 days as a list, or the days of a year by month. The server
// computes them.
import './texts.en';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client';
import { serverNow } from '../../lib/server_clock';
import type { CalendarDefinition } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { usePreferences } from '../../lib/preferences';
import { useDelayed } from '../../lib/use_delayed';
import { localIn } from '../../lib/zones';
import { Card, Segments, explain } from '../../ui/ui';
import { daysOf, timesText, yearFrom, type Month, type Times } from './calendar_values';

const DELAY_MS = 300;
const RANGES = { days: 60, year: 366 } as const;
const SHOWN_MAX = 60; // lines

// `definition` is null while it is not valid.
export function CalendarPreview({ definition }: { definition: CalendarDefinition | null }) {
  const { t } = useTranslation();
  const [range, setRange] = useState<keyof typeof RANGES>('days');
  const wanted = useDelayed({ definition, days: RANGES[range] }, DELAY_MS);
  const preview = useQuery({
    queryKey: ['calendars', '', 'preview', wanted], // no calendar has an empty name
    queryFn: async ({ signal }) =>
      (await call<{ items: Times[] }>('POST', 'calendars/preview', { body: wanted, signal })).data.items,
    enabled: wanted.definition !== null,
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
  return (
    <Card
      title={t('calendars.preview')}
      actions={
        <Segments
          label={t('calendars.preview_range')}
          value={range}
          choices={[
            { value: 'days', label: t('calendars.preview_days') },
            { value: 'year', label: t('calendars.preview_year') },
          ]}
          onChange={(next) => setRange(next as keyof typeof RANGES)}
        />
      }
    >
      {definition === null ? (
        <p className="text-muted">{t('calendars.preview_invalid')}</p>
      ) : preview.isError ? (
        <p className="text-bad">{explain(preview.error, t)}</p>
      ) : !preview.data ? (
        <p className="text-muted">{t('loading')}</p>
      ) : (
        <Shown items={preview.data} zone={definition.time_zone} year={range === 'year'} />
      )}
    </Card>
  );
}

function Shown({ items, zone, year }: { items: Times[]; zone: string; year: boolean }) {
  const { t } = useTranslation();
  const days = daysOf(items, zone);
  if (items.length === 0) return <p className="text-muted">{t('calendars.preview_none')}</p>;
  return (
    <>
      <p className="mb-3 text-muted">{t('calendars.preview_days_in', { count: days.size })}</p>
      {year ? <Year days={days} zone={zone} /> : <List items={items} zone={zone} />}
    </>
  );
}

function List({ items, zone }: { items: Times[]; zone: string }) {
  const { t } = useTranslation();
  const more = items.length - SHOWN_MAX;
  return (
    <>
      <ol className="grid gap-1 tabular-nums" data-testid="times">
        {items.slice(0, SHOWN_MAX).map((one) => (
          <li key={one.from}>{timesText(one, zone)}</li>
        ))}
      </ol>
      {more > 0 && <p className="mt-1.5 text-muted">{t('calendars.more_times', { count: more })}</p>}
    </>
  );
}

function Year({ days, zone }: { days: ReadonlySet<string>; zone: string }) {
  const today = localIn(zone, serverNow()).slice(0, 10);
  return (
    <div className="grid grid-cols-[repeat(auto-fill,minmax(12rem,1fr))] gap-4">
      {yearFrom(today).map((month) => (
        <MonthGrid key={month.month} month={month} days={days} />
      ))}
    </div>
  );
}

// Days in the calendar are bold in a frame. A screen reader reads them as one sentence.
function MonthGrid({ month, days }: { month: Month; days: ReadonlySet<string> }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const name = new Intl.DateTimeFormat(language, { timeZone: 'UTC', year: 'numeric', month: 'long' }).format(
    Date.parse(month.month + '-01T00:00Z'),
  );
  const inside = month.days.filter((day) => days.has(day)).map((day) => Number(day.slice(8)));
  const said =
    inside.length > 0
      ? t('calendars.month_days', { month: name, days: inside.join(', ') })
      : t('calendars.month_none', { month: name });
  return (
    <div role="img" aria-label={said}>
      <p className="mb-1 font-medium">{name}</p>
      <div className="grid grid-cols-7 gap-0.5 text-center text-xs tabular-nums">
        {Array.from({ length: month.blanks }, (_, i) => (
          <span key={'blank' + i} />
        ))}
        {month.days.map((day) => (
          <span
            key={day}
            data-in={days.has(day) || undefined}
            className={
              days.has(day)
                ? 'rounded border border-accent bg-accent-soft font-semibold text-accent'
                : 'border border-transparent text-muted'
            }
          >
            {Number(day.slice(8))}
          </span>
        ))}
      </div>
    </div>
  );
}

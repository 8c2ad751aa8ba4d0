// Form of a calendar with its preview: a new one, or one that exists.
import './texts.en';
import '../executors/texts.en';
import { useQueryClient } from '@tanstack/react-query';
import { Save } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { ApiError, call } from '../../api/client';
import type { Calendar, CalendarDefinition } from '../../api/types';
import { useMay } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { isName } from '../../lib/names';
import { Field } from '../../ui/field';
import { toast, toastError } from '../../ui/toasts';
import { Card, explain } from '../../ui/ui';
import { ZoneOptions } from '../../ui/zone_options';
import { CalendarPreview } from './calendar_preview';
import {
  EMPTY,
  WEEKDAYS,
  calendarPath,
  definitionOf,
  fieldOf,
  valuesOf,
  wrongIn,
  type CalendarValues,
  type Weekday,
  type Wrong,
} from './calendar_values';

// `name` and `definition` are absent for a new one. `taken`: names of calendars that exist.
export function CalendarEditor(props: {
  name?: string;
  definition?: CalendarDefinition;
  taken?: readonly string[];
  onSaved?: (calendar: Calendar) => void;
}) {
  const { t } = useTranslation();
  const may = useMay('config:write');
  const client = useQueryClient();
  const [name, setName] = useState(props.name ?? '');
  const [values, setValues] = useState<CalendarValues>(props.definition ? valuesOf(props.definition) : EMPTY);
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<Record<string, string>>({}); // by field, as the server says
  const isNew = props.name === undefined;
  const wrong = wrongIn(values);
  const wrongName = !isNew
    ? undefined
    : !isName(name.trim())
      ? t('calendars.name_wrong')
      : props.taken?.includes(name.trim())
        ? t('calendars.taken')
        : undefined;
  const change = <Key extends keyof CalendarValues>(field: Key, value: CalendarValues[Key]) => {
    setValues((before) => ({ ...before, [field]: value }));
    setRefused(({ [field]: _gone, ...others }) => others);
  };
  // An invalid line is told at once, a missing zone and name only after an attempt to save.
  const errorOf = (field: Wrong['field']): string | undefined => {
    const found = wrong.find((one) => one.field === field);
    if (!found) return refused[field];
    if (field === 'time_zone') return t('calendars.zone_wrong');
    return t(field === 'intervals' ? 'calendars.interval_wrong' : 'calendars.date_wrong', {
      line: found.line,
    });
  };
  const save = async () => {
    setBusy(true);
    setRefused({});
    try {
      const { data } = await call<Calendar>('PUT', calendarPath(name.trim()), { body: definitionOf(values) });
      toast(t('calendars.saved', { name: data.name }));
      client.setQueryData(['calendars', data.name], data);
      await client.invalidateQueries({ queryKey: ['calendars'], exact: true });
      props.onSaved?.(data);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.errors.length > 0)
        setRefused(Object.fromEntries(error.errors.map((one) => [fieldOf(one.pointer), one.detail])));
      if (error.errors.every((one) => !(fieldOf(one.pointer) in EMPTY)))
        toastError(t('calendars.not_saved'), explain(error, t));
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (wrong.length === 0 && wrongName === undefined) void save();
  };
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
      <form noValidate onSubmit={submit}>
        <Card title={t('calendars.days')}>
          <div className="grid gap-4">
            {isNew && (
              <Field
                label={t('auth.name')}
                error={tried ? wrongName : undefined}
                hint={t('calendars.name_hint')}
              >
                <input
                  className="input mono"
                  autoComplete="off"
                  autoCapitalize="off"
                  spellCheck={false}
                  value={name}
                  onChange={(event) => setName(event.target.value)}
                />
              </Field>
            )}
            <Field label={t('calendars.zone')} error={errorOf('time_zone')} hint={t('calendars.zone_hint')}>
              <input
                className="input"
                list="calendar-zones"
                autoComplete="off"
                spellCheck={false}
                value={values.time_zone}
                onChange={(event) => change('time_zone', event.target.value)}
              />
            </Field>
            <ZoneOptions id="calendar-zones" />
            <Weekdays
              value={values.weekdays}
              error={refused.weekdays}
              onChange={(weekdays) => change('weekdays', weekdays)}
            />
            <Lines
              label={t('calendars.dates')}
              hint={t('calendars.dates_hint')}
              error={errorOf('dates')}
              value={values.dates}
              onChange={(text) => change('dates', text)}
            />
            <Lines
              label={t('calendars.except')}
              hint={t('calendars.except_hint')}
              error={errorOf('except')}
              value={values.except}
              onChange={(text) => change('except', text)}
            />
            <Lines
              label={t('calendars.intervals')}
              hint={t('calendars.intervals_hint')}
              error={errorOf('intervals')}
              value={values.intervals}
              onChange={(text) => change('intervals', text)}
            />
            <button
              type="submit"
              className="button button-primary justify-self-end"
              disabled={busy || !may}
              title={may ? undefined : t('denied.admin')}
            >
              <Save aria-hidden size={15} />
              {t(isNew ? 'calendars.create' : 'form.save')}
            </button>
          </div>
        </Card>
      </form>
      <CalendarPreview definition={wrong.length === 0 ? definitionOf(values) : null} />
    </div>
  );
}

function Weekdays(props: {
  value: Weekday[];
  error: string | undefined;
  onChange: (value: Weekday[]) => void;
}) {
  const { t } = useTranslation();
  return (
    <fieldset className="grid gap-1">
      <legend className="mb-1 font-medium">{t('calendars.weekdays')}</legend>
      <div className="flex flex-wrap gap-1.5">
        {WEEKDAYS.map((day) => {
          const on = props.value.includes(day);
          return (
            <button
              key={day}
              type="button"
              aria-pressed={on}
              className={'button min-w-12 ' + (on ? 'bg-accent-soft font-medium text-accent' : '')}
              onClick={() =>
                props.onChange(on ? props.value.filter((one) => one !== day) : [...props.value, day])
              }
            >
              {t(`calendars.weekday.${day}`)}
            </button>
          );
        })}
      </div>
      {props.error ? (
        <p role="alert" className="text-xs text-bad">
          {props.error}
        </p>
      ) : (
        <p className="text-xs text-muted">{t('calendars.days_hint')}</p>
      )}
    </fieldset>
  );
}

function Lines(props: {
  label: string;
  hint: string;
  error: string | undefined;
  value: string;
  onChange: (text: string) => void;
}) {
  return (
    <Field label={props.label} hint={props.hint} error={props.error}>
      <textarea
        className="input mono"
        rows={3}
        spellCheck={false}
        autoComplete="off"
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
      />
    </Field>
  );
}

// Several schedules of a job, each with its own kind.
import './texts.en';
import { Plus, Trash2 } from 'lucide-react';
import { Suspense, lazy, useEffect, useState, type ReactNode } from 'react';
import { useFieldArray, useFormContext, useWatch, type FieldPath } from 'react-hook-form';
import { useCalendarNames } from '../../../api/groups';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { Field } from '../../../ui/field';
import { ChooseName, Text } from './form_fields';
import { schedulesOf } from './form_values';
import type { FormValues } from './form_schema';
import { UpstreamJob, UpstreamResult } from '../dependencies/upstream_fields';
import { EMPTY_ROW, ROWS_MAX, ROW_KINDS, hasJitter, rowOf, type ScheduleRow } from './schedule_values';

const TriggerFields = lazy(() => import('../events/trigger_fields'));
const LIMITS = ['start_time', 'end_time', 'jitter_s', 'calendar', 'blackout', 'parameters'] as const;
const TIME_EXAMPLE = '2026-12-24T18:00:00+01:00';

// Returns the schedules as rows; a schedule in the form's single fields becomes one row.
function rowsOf(values: FormValues): ScheduleRow[] {
  return values.kind === 'several'
    ? values.schedules
    : schedulesOf(values).map((one) => rowOf(one, values.time_zone.trim()));
}

// Button that changes the form from one schedule to two.
export function AddSchedule() {
  const { t } = useTranslation();
  const { getValues, setValue } = useFormContext<FormValues>();
  return (
    <button
      type="button"
      className="button justify-self-start"
      onClick={() => {
        setValue('schedules', [...rowsOf(getValues()), EMPTY_ROW], { shouldDirty: true });
        setValue('kind', 'several', { shouldDirty: true });
      }}
    >
      <Plus aria-hidden size={15} />
      {t('form.add_schedule')}
    </button>
  );
}

// From the single fields to a row, which has fields for a window and a jitter.
export function LimitSchedule({ label }: { label: string }) {
  const { t } = useTranslation();
  const { getValues, setValue } = useFormContext<FormValues>();
  return (
    <button
      type="button"
      className="button justify-self-start"
      onClick={() => {
        setValue('schedules', rowsOf(getValues()), { shouldDirty: true });
        setValue('kind', 'several', { shouldDirty: true });
      }}
    >
      {t(label)}
    </button>
  );
}

// The window, the jitter, the calendars and the parameters of a row. Open at first if it is the only row, or if one is set.
function Limits(props: { at: number; only: boolean; label: string; children: ReactNode; wrong: boolean }) {
  const { t } = useTranslation();
  const { getValues } = useFormContext<FormValues>();
  const [open, setOpen] = useState(() => {
    const row = getValues(`schedules.${props.at}`);
    return (
      props.only ||
      LIMITS.some((field) => row[field] !== '' && !(field === 'start_time' && row.kind === 'rate'))
    );
  });
  return (
    <details open={open || props.wrong} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="py-1 text-accent">{t(props.label, { n: props.at + 1 })}</summary>
      <div className="mt-2 grid gap-2">{props.children}</div>
    </details>
  );
}

interface TextOptions {
  mono?: boolean;
  numeric?: boolean;
  rows?: number;
  placeholder?: string;
  list?: string;
  hint?: string;
}
type ErrorOf = (field: FieldPath<FormValues>) => string | undefined;

// Fields of cron and rate schedules only.
function FireLimits(props: {
  at: number;
  text: (field: keyof ScheduleRow, label: string, more: TextOptions) => ReactNode;
  errorOf: ErrorOf;
}) {
  const { t } = useTranslation();
  const calendars = useCalendarNames();
  const n = props.at + 1;
  const select = (field: 'calendar' | 'blackout', label: string, hint: string) => (
    <ChooseName
      name={`schedules.${props.at}.${field}`}
      label={label}
      hint={hint}
      names={calendars}
      error={props.errorOf(`schedules.${props.at}.${field}`)}
    />
  );
  return (
    <>
      {props.text('end_time', t('form.until_n', { n }), { mono: true, placeholder: TIME_EXAMPLE })}
      {props.text('jitter_s', t('form.jitter_n', { n }), { numeric: true, hint: t('form.jitter_hint') })}
      {select('calendar', t('form.calendar_n', { n }), t('form.calendar_hint'))}
      {select('blackout', t('form.blackout_n', { n }), t('form.blackout_hint'))}
    </>
  );
}

export function ScheduleRows({ errorOf, jobId }: { errorOf: ErrorOf; jobId?: string }) {
  const { t } = useTranslation();
  const { fields, append, remove } = useFieldArray<FormValues, 'schedules'>({ name: 'schedules' });
  // A user who has just chosen this kind begins with one empty row.
  const none = fields.length === 0;
  useEffect(() => {
    if (none) append(EMPTY_ROW, { shouldFocus: false });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once
  }, []);
  return (
    <div className="grid gap-3">
      <ol className="grid gap-3">
        {fields.map((field, i) => (
          <li key={field.id} className="grid gap-2 rounded-md border p-3" data-testid="schedule">
            <Row
              at={i}
              only={fields.length === 1}
              errorOf={errorOf}
              jobId={jobId}
              onRemove={() => remove(i)}
            />
          </li>
        ))}
      </ol>
      {none && <p className="text-muted">{t('form.no_schedule')}</p>}
      <button
        type="button"
        className="button justify-self-start"
        disabled={fields.length >= ROWS_MAX}
        onClick={() => append(EMPTY_ROW, { focusName: `schedules.${fields.length}.kind` })}
      >
        <Plus aria-hidden size={15} />
        {t('form.add_schedule')}
      </button>
    </div>
  );
}

function Row({
  at,
  only,
  errorOf,
  jobId,
  onRemove,
}: {
  at: number;
  only: boolean;
  errorOf: ErrorOf;
  jobId?: string;
  onRemove: () => void;
}) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const { register } = useFormContext<FormValues>();
  const kind = useWatch<FormValues, `schedules.${number}.kind`>({ name: `schedules.${at}.kind` });
  const n = at + 1;
  const kinds: readonly string[] = (ROW_KINDS as readonly string[]).includes(kind)
    ? ROW_KINDS
    : [...ROW_KINDS, kind];
  const text = (field: keyof ScheduleRow, label: string, more: TextOptions) => (
    <Text
      key={field}
      name={`schedules.${at}.${field}`}
      label={label}
      error={errorOf(`schedules.${at}.${field}`)}
      {...more}
    />
  );
  const time = { mono: true, placeholder: TIME_EXAMPLE };
  return (
    <>
      <div className="flex items-end gap-2">
        <Field label={t('form.schedule_n', { n })} error={errorOf(`schedules.${at}.kind`)} className="flex-1">
          <select className="input" {...register(`schedules.${at}.kind`)}>
            {kinds.map((one) => (
              <option key={one} value={one}>
                {textOr('option.kind.', one)}
              </option>
            ))}
          </select>
        </Field>
        <button
          type="button"
          className="button button-icon button-danger"
          aria-label={t('form.remove_schedule', { n })}
          title={t('form.remove_schedule', { n })}
          onClick={onRemove}
        >
          <Trash2 aria-hidden size={15} />
        </button>
      </div>
      {kind === 'cron' && [
        text('cron_expression', t('form.cron_n', { n }), { mono: true, placeholder: '*/5 * * * *' }),
        text('time_zone', t('form.zone_n', { n }), { list: 'zones', hint: t('form.zone_n_hint') }),
      ]}
      {kind === 'rate' && [
        text('every_s', t('form.every_n', { n }), { numeric: true }),
        text('start_time', t('form.start_n', { n }), { ...time, hint: t('form.start_hint') }),
      ]}
      {kind === 'delay' && text('every_s', t('form.delay_n', { n }), { numeric: true })}
      {kind === 'once' && text('at', t('form.at_n', { n }), time)}
      {kind === 'after' && (
        <>
          <UpstreamJob
            name={`schedules.${at}.job`}
            label={t('form.upstream_n', { n })}
            error={errorOf(`schedules.${at}.job`)}
          />
          <UpstreamResult
            name={`schedules.${at}.on`}
            label={t('form.on_n', { n })}
            error={errorOf(`schedules.${at}.on`)}
          />
        </>
      )}
      {kind === 'event' && (
        <Suspense>
          <TriggerFields
            names={{
              type: `schedules.${at}.type`,
              source: `schedules.${at}.source`,
              filter: `schedules.${at}.filter`,
              parameters: `schedules.${at}.parameters`,
            }}
            n={n}
            jobId={jobId}
            errorOf={errorOf}
          />
        </Suspense>
      )}
      {kind !== 'event' && (ROW_KINDS as readonly string[]).includes(kind) && (
        <Limits
          at={at}
          only={only}
          label={hasJitter(kind) ? 'form.more_schedule' : 'form.more_schedule_short'}
          wrong={LIMITS.some((field) => errorOf(`schedules.${at}.${field}`))}
        >
          {(kind === 'cron' || kind === 'delay') && text('start_time', t('form.from_n', { n }), time)}
          {hasJitter(kind) && <FireLimits at={at} text={text} errorOf={errorOf} />}
          {text('parameters', t('form.parameters_n', { n }), {
            mono: true,
            rows: 2,
            hint: t('form.parameters_n_hint'),
          })}
        </Limits>
      )}
    </>
  );
}

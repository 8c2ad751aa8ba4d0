// Dialog that runs past fires of a job: first it shows what would be run, then it starts the backfill.
import './texts.en';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { call } from '../../api/client';
import { newKey } from '../../api/keys';
import type { Backfill, BackfillPreview, Job } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { count } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { browserZone } from '../../lib/zones';
import { FormDialog } from '../../ui/dialogs/form_dialog';
import { Field } from '../../ui/field';
import { Time } from '../../ui/time';
import { scheduleText } from '../schedule/schedule_text';
import {
  RERUNS,
  bodyOf,
  repeatedOf,
  startOf,
  wrongIn,
  type BackfillValues,
  type WrongField,
} from './backfill_values';

const FIRES_SHOWN = 5;

export default function BackfillDialog({ job: shown, onClose }: { job: Job; onClose: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const client = useQueryClient();
  const { zone: own } = usePreferences();
  const zone = own || browserZone();
  const [job] = useState(shown); // stays the same while the dialog is open, although the page may refresh
  const [values, setValues] = useState(() => startOf(job, zone, Date.now()));
  const [wrong, setWrong] = useState<WrongField[]>([]);
  const [preview, setPreview] = useState<BackfillPreview | null>(null);
  const key = useRef(newKey());
  const path = 'jobs/' + encodeURIComponent(job.job_id) + '/backfills';
  const set = (change: Partial<BackfillValues>) => {
    setValues({ ...values, ...change });
    setWrong([]);
    setPreview(null);
    key.current = newKey();
  };
  const save = async () => {
    const found = wrongIn(values, zone);
    setWrong(found);
    if (found.length > 0) return;
    const body = bodyOf(values, zone);
    if (preview === null) {
      const { data } = await call<BackfillPreview>('POST', path, { body: { ...body, dry_run: true } });
      setPreview(data);
      return;
    }
    // A repeated submission has the same key, so it starts one backfill.
    await call<Backfill>('POST', path, { body, idempotencyKey: key.current });
    void client.invalidateQueries({ queryKey: ['backfills'] });
    onClose();
    await navigate({ to: '/backfills', search: { job_id: job.job_id } });
  };
  return (
    <FormDialog
      title={t('backfill.title_of', { name: job.name })}
      save={t(preview === null ? 'backfill.preview' : 'backfill.start')}
      onClose={onClose}
      pointers={['/from', '/to', '/schedule_id', '/concurrency']}
      onSave={save}
    >
      {({ errorOf }) => (
        <>
          <p className="text-muted">{t('backfill.explain')}</p>
          <Times
            values={values}
            zone={zone}
            errors={{
              from: wrong.includes('from') ? t('backfill.no_time') : errorOf('/from'),
              to: wrong.includes('to') ? t('backfill.not_after') : errorOf('/to'),
            }}
            onChange={set}
          />
          <Which job={job} values={values} error={errorOf('/schedule_id')} onChange={set} />
          <Manner
            values={values}
            error={wrong.includes('concurrency') ? t('backfill.whole') : errorOf('/concurrency')}
            onChange={set}
          />
          {preview && <Preview preview={preview} />}
        </>
      )}
    </FormDialog>
  );
}

interface Part {
  values: BackfillValues;
  onChange: (change: Partial<BackfillValues>) => void;
}

function Times(props: Part & { zone: string; errors: { from?: string; to?: string } }) {
  const { t } = useTranslation();
  const { values, errors, onChange } = props;
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Field label={t('backfill.from')} error={errors.from} hint={t('backfill.zone', { zone: props.zone })}>
        <input
          type="datetime-local"
          className="input"
          value={values.from}
          onChange={(event) => onChange({ from: event.target.value })}
        />
      </Field>
      <Field label={t('backfill.to')} error={errors.to} hint={t('backfill.to_hint')}>
        <input
          type="datetime-local"
          className="input"
          value={values.to}
          onChange={(event) => onChange({ to: event.target.value })}
        />
      </Field>
    </div>
  );
}

// The choice of the schedule, if the job has several.
function Which({ job, values, error, onChange }: Part & { job: Job; error?: string }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const repeated = repeatedOf(job);
  if (repeated.length < 2) return error ? <p className="text-bad">{error}</p> : null;
  return (
    <Field label={t('backfill.schedule')} error={error}>
      <select
        className="input"
        value={values.schedule}
        onChange={(event) => onChange({ schedule: event.target.value })}
      >
        {repeated.map((schedule) => (
          <option key={schedule.schedule_id} value={schedule.schedule_id}>
            {scheduleText(schedule, t, language)}
          </option>
        ))}
      </select>
    </Field>
  );
}

function Manner({ values, error, onChange }: Part & { error?: string }) {
  const { t } = useTranslation();
  return (
    <>
      <Field label={t('backfill.rerun')} hint={t('backfill.rerun_hint')}>
        <select
          className="input"
          value={values.rerun}
          onChange={(event) => onChange({ rerun: event.target.value as BackfillValues['rerun'] })}
        >
          {RERUNS.map((rerun) => (
            <option key={rerun} value={rerun}>
              {t(`backfill.rerun_${rerun}`)}
            </option>
          ))}
        </select>
      </Field>
      <Field label={t('backfill.concurrency')} error={error} hint={t('backfill.concurrency_hint')}>
        <input
          className="input"
          inputMode="numeric"
          autoComplete="off"
          value={values.concurrency}
          onChange={(event) => onChange({ concurrency: event.target.value })}
        />
      </Field>
      <label className="flex min-h-8 items-center gap-2">
        <input
          type="checkbox"
          className="size-4"
          checked={values.descending}
          onChange={(event) => onChange({ descending: event.target.checked })}
        />
        {t('backfill.descending')}
      </label>
    </>
  );
}

function Preview({ preview }: { preview: BackfillPreview }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const n = (value: number) => count(value, language);
  return (
    <div role="status" className="grid gap-1 rounded-md bg-idle-soft px-3 py-2">
      <p className="font-medium">
        {t('backfill.would', { to_run: n(preview.to_run), fires: n(preview.fires) })}
      </p>
      {preview.existing > 0 && <p>{t('backfill.would_keep', { n: n(preview.existing) })}</p>}
      {preview.refused > 0 && <p>{t('backfill.would_refuse', { n: n(preview.refused) })}</p>}
      {preview.first_fires.length > 0 && (
        <p className="text-muted">
          {t('backfill.first')}{' '}
          {preview.first_fires.slice(0, FIRES_SHOWN).map((fire, i) => (
            <span key={fire}>
              {i > 0 && ', '}
              <Time at={fire} absolute />
            </span>
          ))}
          {preview.to_run > FIRES_SHOWN && ' …'}
        </p>
      )}
    </div>
  );
}

// Preview of what a run would wait for if it fired now, from the code of the scheduler that judges it.
import './texts.en';
import { Link } from '@tanstack/react-router';
import { useWatch } from 'react-hook-form';
import { useJobName } from '../../../api/dependencies';
import type { FieldError, WaitsPreview } from '../../../api/types';
import { useWaitsPreview } from '../../../api/waits';
import { problemText } from '../../../i18n/problems';
import { useTranslation } from '../../../i18n/use_translation';
import { useDelayed } from '../../../lib/use_delayed';
import { StateBadge } from '../../../ui/state_badge';
import { Time } from '../../../ui/time';
import { explain } from '../../../ui/ui';
import type { FormValues } from '../form/form_schema';
import { waitOf, wrongInWait } from './waits_values';

const DELAY_MS = 300;

// Returns the preview of the entries of the form, and the mistakes that the server finds in them.
export function usePreviewOfForm() {
  const [rows, zone, job_id] = useWatch<FormValues, ['waits', 'time_zone', 'job_id']>({
    name: ['waits', 'time_zone', 'job_id'],
  });
  const whole = rows.length > 0 && rows.every((row) => wrongInWait(row) === null);
  const time_zone = zone.trim() || 'UTC';
  const asked = whole ? { waits_for: rows.map(waitOf), time_zone, ...(job_id ? { job_id } : {}) } : null;
  const delayed = useDelayed(asked, DELAY_MS);
  return { asked: delayed, preview: useWaitsPreview(delayed) };
}

export function PreviewOfWaits({ asked, preview }: ReturnType<typeof usePreviewOfForm>) {
  const { t } = useTranslation();
  const { data } = preview;
  return (
    <section className="min-w-0 rounded-md bg-code p-4" aria-live="polite" aria-label={t('waits.preview')}>
      <h3 className="mb-2 text-xs font-medium text-muted">{t('waits.preview')}</h3>
      {asked === null ? (
        <p className="text-muted">{t('waits.preview_enter')}</p>
      ) : preview.isError ? (
        <p className="text-bad">{explain(preview.error, t)}</p>
      ) : !data ? (
        <p className="text-muted">{t('loading')}</p>
      ) : (
        <div className="grid gap-3">
          {data.errors.length > 0 && <Mistakes errors={data.errors} />}
          <ul className="grid gap-3">
            {data.items.map((one, i) => (
              // oxlint-disable-next-line react/no-array-index-key -- an answer has the place of its entry
              <Answer key={i} answer={one} zone={asked.time_zone} />
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

function Mistakes({ errors }: { errors: FieldError[] }) {
  return (
    <ul className="text-bad">
      {errors.map((one) => (
        <li key={one.pointer + one.code}>{problemText('field', one.code, one.detail)}</li>
      ))}
    </ul>
  );
}

function Answer({ answer, zone }: { answer: WaitsPreview['items'][number]; zone: string }) {
  const { t } = useTranslation();
  const name = useJobName(answer.job);
  return (
    <li className="grid gap-1 wrap-anywhere" data-met={answer.met}>
      <p className="flex flex-wrap items-center gap-x-2">
        <span className="font-medium">{name}</span>
        <span className={answer.met ? 'text-ok' : 'text-warn'}>
          {t(answer.met ? 'waits.preview_met' : 'waits.preview_open')}
        </span>
      </p>
      {answer.run_id && answer.state && (
        <p className="flex flex-wrap items-center gap-x-2">
          <Link to="/runs/$id" params={{ id: answer.run_id }} className="link min-h-6 leading-6">
            {t('waits.preview_run')} <Time at={answer.fire_time} zone={zone} absolute />
          </Link>
          <StateBadge state={answer.state} />
        </p>
      )}
      <p className="text-muted" lang="en">
        {answer.detail}
      </p>
      <p className="text-xs text-muted">
        {t('waits.preview_window')} <Time at={answer.from} zone={zone} absolute /> –{' '}
        <Time at={answer.until} zone={zone} absolute />
        {answer.ahead_until && (
          <>
            {t('waits.preview_ahead')} <Time at={answer.ahead_until} zone={zone} absolute />
          </>
        )}
      </p>
    </li>
  );
}

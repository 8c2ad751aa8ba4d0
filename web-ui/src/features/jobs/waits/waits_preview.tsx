// What a run would wait for if it fired now, from the code of the scheduler that judges it.
import './texts.en';
import { Link } from '@tanstack/react-router';
import { useWatch } from 'react-hook-form';
import { ApiError } from '../../../api/client';
import { useJobName } from '../../../api/dependencies';
import { useWaitsPreview, type WaitPreview } from '../../../api/waits';
import { useTranslation } from '../../../i18n/use_translation';
import { readable } from '../../../lib/format';
import { useDelayed } from '../../../lib/use_delayed';
import { StateBadge } from '../../../ui/state_badge';
import { Time } from '../../../ui/time';
import { explain } from '../../../ui/ui';
import type { FormValues } from '../form/form_schema';
import { waitOf, wrongInWait } from './waits_values';

const DELAY_MS = 300;

export function WaitsPreview() {
  const { t } = useTranslation();
  const [rows, zone] = useWatch<FormValues, ['waits', 'time_zone']>({ name: ['waits', 'time_zone'] });
  const whole = rows.length > 0 && rows.every((row) => wrongInWait(row) === null);
  const time_zone = zone.trim() || 'UTC';
  const wanted = useDelayed(whole ? { waits_for: rows.map(waitOf), time_zone } : null, DELAY_MS);
  const preview = useWaitsPreview(wanted);
  return (
    <section className="min-w-0 rounded-md bg-code p-4" aria-live="polite" aria-label={t('waits.preview')}>
      <h3 className="mb-2 text-xs font-medium text-muted">{t('waits.preview')}</h3>
      {wanted === null ? (
        <p className="text-muted">{t('waits.preview_enter')}</p>
      ) : preview.isError ? (
        <Refused error={preview.error} />
      ) : !preview.data ? (
        <p className="text-muted">{t('loading')}</p>
      ) : (
        <ul className="grid gap-3">
          {preview.data.items.map((one, i) => (
            // oxlint-disable-next-line react/no-array-index-key -- an answer has the place of its entry
            <Answer key={i} job={wanted.waits_for[i]?.job ?? ''} answer={one} zone={wanted.time_zone} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Refused({ error }: { error: unknown }) {
  const { t } = useTranslation();
  const wrong = error instanceof ApiError ? error.errors : [];
  if (wrong.length === 0) return <p className="text-bad">{explain(error, t)}</p>;
  return (
    <ul className="text-bad">
      {wrong.map((one) => (
        <li key={one.pointer + one.code}>{one.detail}</li>
      ))}
    </ul>
  );
}

function Answer({ job, answer, zone }: { job: string; answer: WaitPreview; zone: string }) {
  const { t } = useTranslation();
  const name = useJobName(job);
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
            {t('waits.preview_run')} <Time at={answer.fire} zone={zone} absolute />
          </Link>
          <StateBadge state={answer.state} />
        </p>
      )}
      {answer.detail && (
        <p className="text-muted" lang="en">
          {readable(answer.detail)}
        </p>
      )}
      <p className="text-xs text-muted">
        {t('waits.preview_window')} <Time at={answer.window.from} zone={zone} absolute /> –{' '}
        <Time at={answer.window.until} zone={zone} absolute />
      </p>
    </li>
  );
}

// Preview of a schedule: its description and next fires, from the scheduler's own code.
import './texts.en';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { call } from '../../../api/client';
import type { Fire, Preview, SkippedFire } from '../../../api/types';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { readable } from '../../../lib/format';
import { usePreferences } from '../../../lib/preferences';
import { useDelayed } from '../../../lib/use_delayed';
import { Time } from '../../../ui/time';
import { explain } from '../../../ui/ui';
import { describeCron, useWords } from '../detail/describe';
import { isEvent } from '../events/trigger_values';
import { isAfter } from './schedule_values';
import { StartsAfter } from '../dependencies/starts_after';

const DELAY_MS = 300;
const FIRES = 5;

export interface PreviewOf {
  schedules: unknown[];
  time_zone: string;
  dst_gap: string;
  dst_repeat: string;
  job_id?: string; // the edited job; the warning about crowded minutes does not count it
}

export function usePreview(wanted: PreviewOf | null) {
  const delayed = useDelayed(wanted, DELAY_MS);
  return useQuery({
    queryKey: ['preview', delayed],
    queryFn: async ({ signal }) =>
      (await call<Preview>('POST', 'schedules/preview', { body: { ...delayed, n: FIRES }, signal })).data,
    enabled: delayed !== null,
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
}

export function PreviewPanel(props: {
  preview: ReturnType<typeof usePreview>;
  crons: readonly string[];
  schedules: readonly unknown[];
  active: boolean;
  manual: boolean;
}) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  useWords(language);
  const { data, isError, error } = props.preview;
  if (!props.active)
    return <p className="text-muted">{props.manual ? t('preview.manual') : t('preview.enter')}</p>;
  if (isError) return <p className="text-bad">{explain(error, t)}</p>;
  if (!data) return <p className="text-muted">{t('loading')}</p>;
  if (!data.valid) return <p className="text-muted">{t('preview.invalid')}</p>;
  const after = props.schedules.filter(isAfter);
  const planned = props.schedules.some((one) => !isAfter(one) && !isEvent(one));
  // Schedules after another job have a sentence with its name instead of the server's, which has its ID.
  const each = data.explanations.length === props.schedules.length;
  const words =
    language === 'en'
      ? data.explanations.filter((_, i) => !(each && isAfter(props.schedules[i]))).join('; ')
      : props.crons
          .map((cron) => describeCron(cron, language, t))
          .filter(Boolean)
          .join('; ');
  return (
    <>
      {words && after.length < props.schedules.length && <p className="mb-2 font-medium">{words}</p>}
      {after.length > 0 && (
        <div className="mb-2 font-medium">
          {after.map((one, i) => (
            // oxlint-disable-next-line react/no-array-index-key -- two schedules may be equal
            <StartsAfter key={i} job={one.job} on={one.on ?? 'success'} />
          ))}
        </div>
      )}
      {planned ? (
        <FireList fires={data.items} />
      ) : (
        <p className="text-muted">{t(after.length > 0 ? 'preview.after_only' : 'preview.event_only')}</p>
      )}
      {data.skipped && data.skipped.length > 0 && <Skipped fires={data.skipped} />}
      <Hints warnings={data.warnings} />
    </>
  );
}

// Probable mistakes of schedules.
export function Hints({ warnings }: { warnings: Preview['warnings'] }) {
  const { language } = usePreferences();
  const textOr = useTextOr();
  if (warnings.length === 0) return null;
  return (
    <ul className="mt-3 grid gap-1.5" data-testid="hints">
      {warnings.map((one) => (
        <li
          key={`${one.schedule} ${one.code} ${one.detail}`}
          className="flex gap-2 rounded bg-warn-soft px-2 py-1.5 text-warn"
          data-hint={one.code}
        >
          <TriangleAlert aria-hidden size={15} className="mt-0.5 shrink-0" />
          <span>{language === 'en' ? readable(one.detail) : textOr('hint.', one.code)}</span>
        </li>
      ))}
    </ul>
  );
}

export function FireList({ fires }: { fires: Fire[] }) {
  const { t } = useTranslation();
  if (fires.length === 0) return <p className="text-muted">{t('preview.none')}</p>;
  return (
    <ol className="grid gap-1.5" data-testid="fires">
      {fires.map((fire) => (
        <li key={fire.schedule + fire.fire_time} className="flex flex-wrap justify-between gap-x-4">
          <span className="tabular-nums" data-fire={fire.fire_time}>
            {fire.local_time.slice(0, 19).replace('T', ' ')}{' '}
            <span className="text-muted">
              <span title={fire.time_zone}>{fire.utc_offset}</span>
            </span>
            {fire.dst && (
              <span className="ml-2 rounded bg-warn-soft px-1.5 text-xs text-warn">
                {t(`dst.${fire.dst}`)}
              </span>
            )}
          </span>
          <span className="text-muted">
            <Time at={fire.fire_time} zone={fire.time_zone} />
          </span>
        </li>
      ))}
    </ol>
  );
}

// Skipped fires, at the local times of the job that a clock change removed.
export function Skipped({ fires }: { fires: SkippedFire[] }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  return (
    <section aria-label={t('skipped.title')} className="mt-3">
      <h3 className="text-sm text-warn">{t('skipped.title')}</h3>
      <ul className="mt-1 grid gap-1.5" data-testid="skipped">
        {fires.map((fire) => (
          <li key={fire.schedule + fire.fire_time} className="tabular-nums" data-skipped={fire.fire_time}>
            {fire.local_time.slice(0, 19).replace('T', ' ')}{' '}
            <span className="text-muted" title={fire.time_zone}>
              {fire.utc_offset}
            </span>
            <span className="text-muted"> · {textOr('skipped.', fire.dst)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

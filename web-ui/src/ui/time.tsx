// A time in the user's preferred form; the tooltip has the others.
import { useMemo } from 'react';
import { useTranslation } from '../i18n/use_translation';
import { useNow } from '../lib/clock';
import { absoluteTime, relativeTime } from '../lib/format';
import { usePreferences } from '../lib/preferences';

interface Props {
  at: string | null | undefined;
  zone?: string; // of the job
  absolute?: boolean; // never relative, for lists that are ordered by time
}

export function Time({ at, zone, absolute }: Props) {
  if (!at) return <span className="text-muted">–</span>;
  return <Known at={at} zone={zone} absolute={absolute} />;
}

function Known({ at, zone, absolute }: Props & { at: string }) {
  const { time: mode, language, zone: own } = usePreferences();
  const { t } = useTranslation();
  const now = useNow();
  const ms = Date.parse(at);
  // Computed once, not with every tick of the clock.
  const fixed = useMemo(() => {
    const utc = absoluteTime(ms, 'UTC');
    return { local: absoluteTime(ms, own || undefined), utc, job: zone ? absoluteTime(ms, zone) : utc };
  }, [ms, own, zone]);
  const forms = { ...fixed, relative: relativeTime(ms, now, language) };
  const shown = mode === 'relative' && absolute ? 'local' : mode;
  const others = [
    `${t('time.relative')}: ${forms.relative}`,
    `${t('time.local')}: ${forms.local}`,
    `${t('time.utc')}: ${forms.utc}`,
    ...(zone ? [`${zone}: ${forms.job}`] : []),
  ].join('\n');
  return (
    <time dateTime={at} title={others} className="whitespace-nowrap tabular-nums">
      {forms[shown]}
      {shown === 'job' && <span className="text-muted"> {zone ?? 'UTC'}</span>}
    </time>
  );
}

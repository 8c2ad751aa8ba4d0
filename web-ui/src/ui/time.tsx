// A time in the form that the user prefers. The tooltip has the other forms.
import { useMemo } from 'react';
import { useTranslation } from '../i18n/use_translation';
import { useNow } from '../lib/clock';
import { absoluteTime, relativeTime } from '../lib/format';
import { usePreferences } from '../lib/preferences';

interface Props {
  at: string | null | undefined;
  zone?: string; // the job's time zone
  absolute?: boolean; // never relative; for lists that are sorted by time
  past?: boolean; // never shown as a future time, although the page's clock may be a tick late
}

export function Time({ at, ...rest }: Props) {
  if (!at) return <span className="text-muted">–</span>;
  return <Known at={at} {...rest} />;
}

function Known({ at, zone, absolute, past }: Props & { at: string }) {
  const { time: mode, language, zone: own } = usePreferences();
  const { t } = useTranslation();
  const now = useNow();
  const ms = Date.parse(at);
  // The text is computed once, not at every tick of the clock.
  const fixed = useMemo(() => {
    const utc = absoluteTime(ms, 'UTC');
    return { local: absoluteTime(ms, own || undefined), utc, job: zone ? absoluteTime(ms, zone) : utc };
  }, [ms, own, zone]);
  const ago = past ? Math.max(now - ms, 0) : now - ms;
  // The text is "a moment ago", not "now", because it follows words such as "since".
  const relative = ago >= 0 && ago < 1000 ? t('time.moment_ago') : relativeTime(now - ago, now, language);
  const forms = { ...fixed, relative };
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

// Field that chooses the refresh interval of the page. The interval is in the URL, so that a wall display
// keeps it.
import './texts.en';
import { REFRESHES, type Refresh } from '../../lib/search_params';
import { useTranslation } from '../../i18n/use_translation';
import { useOwnPace, type Pace } from '../../lib/poll_interval';
import { usePreferences } from '../../lib/preferences';

export const paceOf = (chosen: Refresh | undefined): Pace =>
  chosen === undefined ? undefined : chosen !== 'off' && Number(chosen) * 1000;

export function RefreshChoice({
  chosen,
  onChange,
}: {
  chosen: Refresh | undefined;
  onChange: (next: Refresh | undefined) => void;
}) {
  const { t } = useTranslation();
  const { live } = usePreferences();
  useOwnPace(paceOf(chosen));
  return (
    <label className="flex items-center gap-2 text-muted">
      {t('refresh.label')}
      <select
        className="input w-auto"
        value={chosen ?? '5'}
        disabled={!live}
        title={live ? undefined : t('refresh.paused')}
        onChange={(event) => onChange(REFRESHES.find((one) => one === event.target.value))}
      >
        <option value="off">{t('refresh.off')}</option>
        {['5', '15', '60'].map((n) => (
          <option key={n} value={n}>
            {t('refresh.every', { n })}
          </option>
        ))}
      </select>
    </label>
  );
}

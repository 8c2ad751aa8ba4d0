// Filters a log by level.
import './texts.en';
import { useMemo } from 'react';
import { useTranslation } from '../../../i18n/use_translation';
import { LEVELS, countFrom, type Level } from './log_levels';
import type { LogLine } from './log_lines';

// The filter is shown only if the log contains levels. The counts include the lines that have been received
// so far. The tooltip has the number of these lines.
export function LevelFilter({
  lines,
  sight,
  level,
  shown,
  onChange,
}: {
  lines: readonly LogLine[];
  sight: object;
  level: Level | undefined;
  shown: number;
  onChange: (level: Level | undefined) => void;
}) {
  const { t } = useTranslation();
  // oxlint-disable-next-line react/exhaustive-deps -- `lines` grows in place; `sight` changes with it
  const counts = useMemo(() => countFrom(lines), [sight]);
  if (level === undefined && counts.DEBUG === 0) return null;
  return (
    <>
      <select
        className="input w-auto max-w-full"
        aria-label={t('output.level')}
        title={t('output.level_counts', { n: lines.length })}
        value={level ?? ''}
        onChange={(event) => onChange((event.target.value || undefined) as Level | undefined)}
      >
        <option value="">{t('output.level_all')}</option>
        {LEVELS.map((one) => (
          <option key={one} value={one}>
            {t(`output.level_${one}`)} ({counts[one]})
          </option>
        ))}
      </select>
      {level && (
        <span className="text-muted" role="status">
          {t('output.level_shown', { shown, n: lines.length })}
        </span>
      )}
    </>
  );
}

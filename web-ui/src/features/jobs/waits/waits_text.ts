// Describes what a run waits for: which runs of another job, and how they must end.
import './texts.en';
import type { TFunction } from 'i18next';
import type { UpstreamWait } from '../../../api/types';
import { span } from '../../../lib/format';

function firesText(wait: UpstreamWait, t: TFunction, language: string): string {
  const { day, back_s: back = 0, ahead_s: ahead = 0 } = wait.window;
  const text = (seconds: number) => span(seconds * 1000, language);
  if (day === undefined && back === 0) return t('waits.ahead', { after: text(ahead) });
  const window =
    day === 0
      ? t('waits.same_day')
      : day === undefined
        ? t('waits.back', { before: text(back) })
        : t('waits.days_before', { count: -day });
  const fires = t(wait.which === 'all' ? 'waits.all' : 'waits.last', { window });
  return ahead === 0 ? fires : t('waits.or_ahead', { fires, after: text(ahead) });
}

// "last fire of the same day · success"
export const waitText = (wait: UpstreamWait, t: TFunction, language: string): string =>
  [firesText(wait, t, language), t(wait.on === 'done' ? 'waits.done' : 'waits.success')].join(' · ');

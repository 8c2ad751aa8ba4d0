// Card of a run's progress and checkpoint. The text is one of the process, so it is shown as it is.
import './texts.en';
import { useTranslation } from '../../../i18n/use_translation';
import { bytes } from '../../../lib/format';
import type { Run } from '../../../api/types';
import { Time } from '../../../ui/time';
import { Card, Facts } from '../../../ui/ui';

export default function Saved({ progress, checkpoint }: Pick<Run, 'progress' | 'checkpoint'>) {
  const { t, i18n } = useTranslation();
  const percent = progress?.percent ?? null;
  return (
    <Card title={t('run.progress')}>
      {progress && (
        <div className="grid gap-1 pb-3">
          {percent !== null && (
            <div className="flex items-center gap-3">
              <progress className="progress" aria-label={t('run.progress')} max={100} value={percent} />
              <span className="tabular-nums">{percent} %</span>
            </div>
          )}
          {progress.text && <p className="break-words whitespace-pre-wrap">{progress.text}</p>}
          <p className="text-muted">
            <Time at={progress.at} />
          </p>
        </div>
      )}
      {checkpoint && (
        <Facts
          items={[
            [t('run.checkpoint'), bytes(checkpoint.size, i18n.language)],
            [t('run.checkpoint_attempt'), checkpoint.attempt],
            [t('run.checkpoint_at'), <Time key="t" at={checkpoint.saved_at} />],
          ]}
        />
      )}
    </Card>
  );
}

// Card of a job's last runs, with the share that succeeded.
import './texts.en';
import type { Job } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { percent } from '../../../lib/format';
import { isAwaited, useTell } from '../../../lib/layout_hold';
import { usePreferences } from '../../../lib/preferences';
import { Card } from '../../../ui/ui';
import { useLastRunsRead } from '../../lists/runs/last_runs';
import RunStrip from '../../lists/runs/run_strip';
import { successOfLast } from './outcome_calendar_values';
import { zoneOf } from '../../schedule/schedule_text';

const RUNS = 20;

export default function LastRunsCard({ job, onKnown }: { job: Job; onKnown?: () => void }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const last = useLastRunsRead([job.job_id], RUNS);
  const runs = last.data?.get(job.job_id);
  useTell(!isAwaited(last), onKnown);
  if (!runs || runs.length === 0) return null; // the page has another card, which says that there are no runs
  const { share, n } = successOfLast(runs);
  return (
    <Card title={t('strip.title', { n: RUNS })}>
      <RunStrip runs={runs} name={job.name} zone={zoneOf(job)} />
      {share !== null && (
        <p className="mt-2 text-muted" data-testid="success">
          {t('strip.success', { share: percent(share, language), n })}
        </p>
      )}
    </Card>
  );
}

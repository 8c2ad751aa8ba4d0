// Card of a job whose runs queue: its slots in use and the runs that wait.
import './texts.en';
import { Link } from '@tanstack/react-router';
import { useJobQueue } from '../../../api/queries';
import type { Job, Run } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { StateBadge } from '../../../ui/state_badge';
import { Time } from '../../../ui/time';
import { Card, LoadFailure, Loading } from '../../../ui/ui';
import { zoneOf } from '../../schedule/schedule_text';

const SHOWN = 20;

export default function QueueCard({ job }: { job: Job }) {
  const { t } = useTranslation();
  const queue = useJobQueue(job.job_id, SHOWN);
  if (queue.isPending)
    return (
      <Card title={t('queue.title')}>
        <Loading />
      </Card>
    );
  if (!queue.data)
    return (
      <Card title={t('queue.title')}>
        <LoadFailure error={queue.error} onRetry={() => void queue.refetch()} />
      </Card>
    );
  const { holders, queued, length, max_running } = queue.data;
  const more = length - queued.length;
  return (
    <Card title={t('queue.title')}>
      <p>{t('queue.slots', { taken: holders.length, max: max_running })}</p>
      {holders.length > 0 && <RunLinks label={t('queue.active')} runs={holders.slice(0, SHOWN)} job={job} />}
      <p className="mt-3">{length === 0 ? t('queue.none') : t('queue.waiting', { count: length })}</p>
      {queued.length > 0 && <RunLinks label={t('queue.waiting_runs')} runs={queued} job={job} numbered />}
      {more > 0 && <p className="mt-1.5 text-muted">{t('queue.more', { count: more })}</p>}
    </Card>
  );
}

function RunLinks(props: { label: string; runs: Run[]; job: Job; numbered?: boolean }) {
  return (
    <ol aria-label={props.label} className="mt-1.5 grid gap-1">
      {props.runs.map((run, i) => (
        <li key={run.run_id} className="flex items-center gap-2">
          {props.numbered && <span className="w-6 text-right text-muted tabular-nums">{i + 1}</span>}
          <Link to="/runs/$id" params={{ id: run.run_id }} className="link">
            <Time at={run.fire_time} zone={zoneOf(props.job)} />
          </Link>
          {!props.numbered && <StateBadge state={run.state} />}
        </li>
      ))}
    </ol>
  );
}

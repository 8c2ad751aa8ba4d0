// Card of a job that belongs to a concurrency group: the slots of the group in use, and the runs of this job that
// wait for one.
import './texts.en';
import { Link } from '@tanstack/react-router';
import { useGroup } from '../../../api/groups';
import type { Job } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { Time } from '../../../ui/time';
import { Card, LoadFailure, Loading } from '../../../ui/ui';
import { ordinalIn } from '../../../lib/ordinal';

export default function GroupCard({ job, group: name }: { job: Job; group: string }) {
  const { t, i18n } = useTranslation();
  const group = useGroup(name);
  const title = t('queue.group_title', { name });
  if (group.isPending)
    return (
      <Card title={title}>
        <Loading />
      </Card>
    );
  if (!group.data)
    return (
      <Card title={title}>
        <LoadFailure error={group.error} onRetry={() => void group.refetch()} />
      </Card>
    );
  const { running, limit, queued, queue } = group.data;
  const own = queue.filter((one) => one.job_id === job.job_id);
  return (
    <Card
      title={title}
      actions={
        <Link to="/groups/$name" params={{ name }} className="link">
          {t('queue.group_view')}
        </Link>
      }
    >
      <p>{t('queue.slots', { taken: running, max: limit })}</p>
      <p className="mt-3">{t(own.length === 0 ? 'queue.group_none' : 'queue.group_waits')}</p>
      {own.length > 0 && (
        <ol aria-label={t('queue.waiting_runs')} className="mt-1.5 grid gap-1">
          {own.map((run) => (
            <li key={run.run_id} className="flex flex-wrap items-center gap-x-2">
              <span className="tabular-nums">
                {t('queue.group_place', {
                  place: ordinalIn(i18n.language, run.position),
                  count: Math.max(queued, run.position),
                })}
              </span>
              <Link to="/runs/$id" params={{ id: run.run_id }} className="link">
                <Time at={run.since} past />
              </Link>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

// Text of a schedule that fires after another job, with the name of that job.
import { Link } from '@tanstack/react-router';
import { useDependencies, useJobName } from '../../../api/dependencies';
import type { AfterSchedule, Job } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { usePreferences } from '../../../lib/preferences';
import { scheduleText } from '../../schedule/schedule_text';

// For a list of jobs. `known`: the name of the upstream job, if the list has it already.
export function UpstreamText({ schedule, known }: { schedule: AfterSchedule; known?: string }) {
  return <After schedule={schedule} name={useJobName(schedule.job, known)} />;
}

// For the page of a job, which knows the names of deleted jobs too.
export function UpstreamOf({ job, schedule }: { job: Job; schedule: AfterSchedule }) {
  const upstream = useDependencies(job.job_id).data?.upstream.find((one) => one.job_id === schedule.job);
  return (
    <After schedule={schedule} name={upstream?.job_name || schedule.job} wraps deleted={upstream?.deleted} />
  );
}

function After(props: { schedule: AfterSchedule; name: string; wraps?: boolean; deleted?: boolean }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const text = scheduleText(props.schedule, t, language, props.name);
  if (props.deleted) return <span className="wrap-anywhere">{text}</span>;
  return (
    <Link
      to="/jobs/$id"
      params={{ id: props.schedule.job }}
      className={'link min-h-6 leading-6 ' + (props.wraps ? 'wrap-anywhere' : 'min-w-0 truncate')}
      title={text}
    >
      {text}
    </Link>
  );
}

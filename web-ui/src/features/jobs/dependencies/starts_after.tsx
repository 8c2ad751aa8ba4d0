// A sentence for the preview of a schedule: after which job it starts, by name if that is known.
import { useFoundJobs } from '../../../api/dependencies';
import { useTranslation } from '../../../i18n/use_translation';
import { useDelayed } from '../../../lib/use_delayed';

const DELAY_MS = 300; // that of the field for the job, so that both ask once

export function StartsAfter({ job, on }: { job: string; on: string }) {
  const { t } = useTranslation();
  const jobs = useFoundJobs(useDelayed(job, DELAY_MS));
  const name = jobs.find((one) => one.job_id === job)?.name ?? job;
  return <p>{t(`preview.after_${on}`, { name })}</p>;
}

// Button that downloads jobs as a file: the selected jobs, or, if none is selected, all jobs that
// match the filter.
import './texts.en';
import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import type { Query } from '../../../api/url';
import type { Job } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { toast, toastError } from '../../../ui/toasts';
import { explain } from '../../../ui/ui';
import type { Selection } from '../../bulk/selection';

export function ExportButton({
  jobs,
  selection,
  filter,
}: {
  jobs: readonly Job[];
  selection: Selection;
  filter: Query;
}) {
  const { t } = useTranslation();
  const some = selection.all === null && selection.ids.size > 0;
  const ticked = jobs.filter((job) => selection.ids.has(job.job_id));
  const write = useMutation({
    mutationFn: async () => (await import('./export_jobs')).exportJobs(some ? { jobs: ticked } : { filter }),
    onSuccess: (n) => toast(t('jobs.exported', { n, count: n })),
    onError: (error) => toastError(t('jobs.not_exported'), explain(error, t)),
  });
  return (
    <button
      type="button"
      className="button"
      disabled={write.isPending}
      onClick={() => write.mutate()}
      title={some ? t('jobs.export_ticked', { n: ticked.length }) : t('jobs.export_all')}
    >
      <Download aria-hidden size={15} />
      {t('jobs.export')}
    </button>
  );
}

// Runs a job of which a list knows only the id: at once, or with the dialog for the values that a run of it
// needs.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Suspense, lazy, useState } from 'react';
import { call } from '../../../api/client';
import type { Job } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { toastError } from '../../../ui/toasts';
import { explain } from '../../../ui/ui';
import { jobPath, useRunNow } from './job_actions';
import { mustAsk } from './must_ask';

const RunWithDialog = lazy(() => import('./run_with_dialog'));

export function useRunOrAsk({ id, name }: { id: string; name: string }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const runNow = useRunNow();
  const [asking, setAsking] = useState(false);
  const look = useMutation({
    mutationFn: () =>
      client.fetchQuery({
        queryKey: ['jobs', id],
        queryFn: ({ signal }) => call<Job>('GET', jobPath(id), { signal }),
      }),
    onSuccess: ({ data }) => (mustAsk(data) ? setAsking(true) : runNow.mutate(id)),
    onError: (error) => toastError(t('jobs.run_failed'), explain(error, t)),
  });
  const dialog = asking && (
    <Suspense>
      <RunWithDialog jobId={id} name={name} onClose={() => setAsking(false)} />
    </Suspense>
  );
  return { run: () => look.mutate(), isPending: look.isPending || runNow.isPending, dialog };
}

// Pauses and resumes the whole cluster. The response updates the open pages.
import './texts.en';
import { useMutation, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { call } from '../../api/client';
import type { ClusterPause, SystemStatus } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { toast, toastError } from '../../ui/toasts';
import { explain } from '../../ui/ui';

interface PauseAnswer {
  paused: ClusterPause | null;
}

function follow(client: QueryClient, { paused }: PauseAnswer): void {
  client.setQueryData<SystemStatus>(['system', 'status'], (before) => before && { ...before, paused });
  void client.invalidateQueries({ queryKey: ['system'] });
  void client.invalidateQueries({ queryKey: ['runs'] }); // the reason why a run waits changes
}

export async function pauseCluster(client: QueryClient, reason: string): Promise<void> {
  follow(client, (await call<PauseAnswer>('POST', 'system/pause', { body: { reason } })).data);
}

export function useResumeCluster() {
  const { t } = useTranslation();
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => call<PauseAnswer>('POST', 'system/resume', { body: {} }),
    onSuccess: ({ data }) => {
      follow(client, data);
      toast(t('pause.resumed'));
    },
    onError: (error) => toastError(t('error.action'), explain(error, t)),
  });
}

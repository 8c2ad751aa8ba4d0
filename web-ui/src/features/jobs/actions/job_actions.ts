// Actions on a job. The list of jobs, the page of a job and the palette offer them.
import './texts.en';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import { ApiError, call } from '../../../api/client';
import { newKey } from '../../../api/keys';
import type { Job } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { toast, toastError } from '../../../ui/toasts';
import { explain } from '../../../ui/ui';
import { dependentsIn } from '../dependencies/dependents';

export const jobPath = (id: string) => 'jobs/' + encodeURIComponent(id);

// Runs a job now. A double click makes one run: until the outcome of the first request is known, later
// requests carry its key.
export function useRunNow() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const client = useQueryClient();
  const keys = useRef(new Map<string, string>());
  return useMutation({
    mutationFn: async (id: string) => {
      const key = keys.current.get(id) ?? newKey();
      keys.current.set(id, key);
      return call<{ run_id: string }>('POST', jobPath(id) + '/execute', { body: {}, idempotencyKey: key });
    },
    onSuccess: ({ data }, id) => {
      keys.current.delete(id);
      void client.invalidateQueries({ queryKey: ['runs'] });
      void navigate({ to: '/runs/$id', params: { id: data.run_id } });
    },
    onError: (error, id) => {
      // The request of the first click is still in progress. This request will open the run.
      if (error instanceof ApiError && error.code === 'request_in_flight') return;
      // If the outcome is unknown, the key is kept, so that a repeated request makes no second run.
      const unknown =
        error instanceof ApiError && (error.code === 'unreachable' || error.code === 'outcome_unknown');
      if (!unknown) keys.current.delete(id);
      toastError(t('jobs.run_failed'), explain(error, t));
    },
  });
}

export function useSetEnabled() {
  const { t } = useTranslation();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, enabled, reason }: { id: string; enabled: boolean; reason?: string }) =>
      call<Job>('POST', jobPath(id) + (enabled ? '/resume' : '/pause'), { body: reason ? { reason } : {} }),
    onSuccess: ({ data }, { enabled }) => {
      toast(enabled ? t('jobs.resumed', { name: data.name }) : t('jobs.paused', { name: data.name }));
      void client.invalidateQueries({ queryKey: ['jobs'] });
    },
    onError: (error) => toastError(t('error.action'), explain(error, t)),
  });
}

// Deletes a job, with `force` even if other jobs start after it. Without, `onDependents` gets their names.
export function useDeleteJob(on: {
  onDone: () => void;
  onRefused: () => void;
  onDependents: (names: string[]) => void;
}) {
  const { t } = useTranslation();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ job, force }: { job: Job; force: boolean }) =>
      call<void>('DELETE', jobPath(job.job_id), {
        ifMatch: `"v${job.version}"`,
        query: force ? { force: 'true' } : {},
      }),
    onSuccess: (_answer, { job }) => {
      toast(t('jobs.deleted', { name: job.name }));
      client.removeQueries({ queryKey: ['jobs', job.job_id] });
      void client.invalidateQueries({ queryKey: ['jobs'] });
      on.onDone();
    },
    onError: (error) => {
      const dependents = dependentsIn(error);
      if (dependents) return on.onDependents(dependents);
      on.onRefused();
      const stale = error instanceof ApiError && error.code === 'stale_version';
      toastError(t('error.action'), stale ? t('jobs.changed_meanwhile') : explain(error, t));
      void client.invalidateQueries({ queryKey: ['jobs'] });
    },
  });
}

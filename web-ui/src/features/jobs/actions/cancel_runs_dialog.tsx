// Dialog that cancels all runs of a job that have not ended. It shows how many runs that are.
import './texts.en';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, get } from '../../../api/client';
import type { Job, Page, Run } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { Field } from '../../../ui/field';
import { FormDialog } from '../../../ui/dialogs/form_dialog';
import { toast } from '../../../ui/toasts';
import { explain } from '../../../ui/ui';
import { jobPath } from './job_actions';

const REASON_MAX = 1000;
const COUNT_MAX = 500; // the largest page that the server returns
const OPEN = ['RUNNING', 'PENDING', 'HELD'] as const;

interface Count {
  n: number;
  more: boolean;
}

function useOpenRuns(id: string) {
  return useQuery({
    queryKey: ['runs', 'open', id],
    queryFn: ({ signal }) =>
      Promise.all(
        OPEN.map(async (state): Promise<Count> => {
          const page = await get<Page<Run>>('runs', { job_id: id, state, page_size: COUNT_MAX }, signal);
          return { n: page.items.length, more: page.next_page_token !== null };
        }),
      ),
    retry: false,
  });
}

export default function CancelRunsDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [reason, setReason] = useState('');
  return (
    <FormDialog
      title={t('cancel_runs.title', { name: job.name })}
      save={t('cancel_runs.do')}
      danger
      pointers={['/reason']}
      onClose={onClose}
      onSave={async () => {
        const { data } = await call<{ cancelled: number }>('POST', jobPath(job.job_id) + '/cancel', {
          body: reason.trim() ? { reason: reason.trim() } : {},
        });
        toast(
          t(data.cancelled > 0 ? 'cancel_runs.done' : 'cancel_runs.nothing', {
            n: data.cancelled,
            count: data.cancelled,
            name: job.name,
          }),
        );
        void client.invalidateQueries({ queryKey: ['runs'] });
        onClose();
      }}
    >
      {({ errorOf }) => (
        <>
          <Counts job={job} />
          <p className="text-muted">{t('cancel_runs.explain')}</p>
          <Field label={t('cancel_runs.reason')} error={errorOf('/reason')}>
            <input
              className="input"
              maxLength={REASON_MAX}
              autoComplete="off"
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          </Field>
        </>
      )}
    </FormDialog>
  );
}

function Counts({ job }: { job: Job }) {
  const { t } = useTranslation();
  const open = useOpenRuns(job.job_id);
  if (open.isPending)
    return (
      <p role="status" className="text-muted">
        {t('loading')}
      </p>
    );
  if (!open.data)
    return (
      <p role="status" className="text-warn">
        {t('cancel_runs.unknown', { why: explain(open.error, t) })}
      </p>
    );
  const [running, pending, held] = open.data.map(({ n, more }) =>
    more ? t('cancel_runs.at_least', { n }) : n,
  );
  const none = open.data.every(({ n }) => n === 0);
  return (
    <p role="status" className="font-medium">
      {none ? t('cancel_runs.none') : t('cancel_runs.counts', { running, pending, held })}
    </p>
  );
}

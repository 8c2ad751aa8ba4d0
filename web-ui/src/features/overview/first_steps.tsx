// Shown while the store is empty: three steps to the first successful run.
import '../executors/texts.en';
import './texts.en';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Circle, CircleCheck, Zap } from 'lucide-react';
import { useRef, useState, type ReactNode } from 'react';
import { call } from '../../api/client';
import { newKey } from '../../api/keys';
import { itemsOf, useExecutors, useRuns } from '../../api/queries';
import type { Job } from '../../api/types';
import { useMay } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { StateBadge } from '../../ui/state_badge';
import { toastError } from '../../ui/toasts';
import { Card, explain } from '../../ui/ui';
import { jobPath } from '../jobs/actions/job_actions';
import { SAMPLE_LABEL } from './sample';

const IMPORT_COMMAND = 'crontab -l | carillon import crontab --apply';

// Creates the sample job and runs it. Each of the two requests keeps its key when it is repeated. So a
// repetition makes no second job or run.
function useSample() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const client = useQueryClient();
  const keys = useRef({ job: newKey(), run: newKey() });
  return useMutation({
    mutationFn: async (keep: boolean) => {
      const { data: job } = await call<Job>('POST', 'jobs', {
        body: {
          name: t('first.name'),
          description: t('first.description'),
          command: "echo 'Hello from Carillon'; date",
          cron_expression: '* * * * *',
          enabled: keep,
          labels: { [SAMPLE_LABEL]: 'hello' },
        },
        idempotencyKey: keys.current.job,
      });
      const { data } = await call<{ run_id: string }>('POST', jobPath(job.job_id) + '/execute', {
        body: {},
        idempotencyKey: keys.current.run,
      });
      return data.run_id;
    },
    onSuccess: (id) => {
      void client.invalidateQueries({ queryKey: ['jobs'] });
      void navigate({ to: '/runs/$id', params: { id } });
    },
    onError: (error) => toastError(t('jobs.run_failed'), explain(error, t)),
  });
}

export default function FirstSteps({ sample }: { sample: Job | null }) {
  const { t } = useTranslation();
  const executors = itemsOf(useExecutors().data).filter((one) => one.state === 'ONLINE');
  return (
    <Card title={t('first.title')} className="mb-4">
      <ol className="grid gap-4">
        <Step done={executors.length > 0} title={t('first.executor')}>
          {executors.length > 0
            ? t('first.executor_is', { name: executors[0]!.executor_id })
            : t('executors.none_hint')}
        </Step>
        <Step done={sample !== null} title={t('first.create')}>
          {sample === null ? <Create /> : <SampleLink job={sample} />}
        </Step>
        {sample === null ? (
          <Step done={false} title={t('first.watch')}>
            {t('first.watch_hint')}
          </Step>
        ) : (
          <Watch job={sample} />
        )}
      </ol>
      {sample !== null && <Onward job={sample} />}
    </Card>
  );
}

function Step(props: { done: boolean; title: string; children: ReactNode }) {
  const { t } = useTranslation();
  return (
    <li className="flex gap-3" data-done={props.done}>
      {props.done ? (
        <CircleCheck size={20} className="mt-0.5 shrink-0 text-ok" role="img" aria-label={t('first.done')} />
      ) : (
        <Circle size={20} className="mt-0.5 shrink-0 text-muted" role="img" aria-label={t('first.to_do')} />
      )}
      <div className="min-w-0">
        <h3>{props.title}</h3>
        <div className="mt-1 text-muted">{props.children}</div>
      </div>
    </li>
  );
}

function Create() {
  const { t } = useTranslation();
  const may = useMay('jobs:write');
  const [keep, setKeep] = useState(false);
  const create = useSample();
  return (
    <div className="grid justify-items-start gap-2">
      <p>{t('first.create_hint')}</p>
      <label className="flex min-h-6 items-center gap-2">
        <input
          type="checkbox"
          className="size-4"
          checked={keep}
          onChange={(event) => setKeep(event.target.checked)}
        />
        {t('first.keep')}
      </label>
      <button
        type="button"
        className="button button-primary"
        disabled={!may || create.isPending}
        title={may ? undefined : t('denied.write')}
        onClick={() => create.mutate(keep)}
      >
        <Zap aria-hidden size={15} />
        {t('first.go')}
      </button>
    </div>
  );
}

function SampleLink({ job }: { job: Job }) {
  return (
    <Link to="/jobs/$id" params={{ id: job.job_id }} className="link">
      {job.name}
    </Link>
  );
}

function Watch({ job }: { job: Job }) {
  const { t } = useTranslation();
  const [run] = itemsOf(useRuns({ job_id: job.job_id, page_size: 1 }).data);
  return (
    <Step done={run?.state === 'COMPLETED'} title={t('first.watch')}>
      {run ? (
        <Link to="/runs/$id" params={{ id: run.run_id }} className="link inline-flex items-center gap-2">
          <StateBadge state={run.state} />
          {t('overview.see')}
        </Link>
      ) : (
        t('first.watch_hint')
      )}
    </Step>
  );
}

function Onward({ job }: { job: Job }) {
  const { t } = useTranslation();
  return (
    <div className="mt-4 border-t pt-4">
      <h3 className="mb-2">{t('first.onward')}</h3>
      <ul className="grid gap-2">
        <li>
          <Link to="/jobs/$id/edit" params={{ id: job.job_id }} className="link">
            {t('first.edit')}
          </Link>
        </li>
        <li>
          <Link to="/jobs/new" className="link">
            {t('first.own')}
          </Link>
        </li>
        <li>
          {t('first.crontab')} <code className="mono rounded bg-code px-1.5 py-0.5">{IMPORT_COMMAND}</code>
        </li>
        <li>
          <Link to="/executors" className="link">
            {t('first.second')}
          </Link>
        </li>
      </ul>
    </div>
  );
}

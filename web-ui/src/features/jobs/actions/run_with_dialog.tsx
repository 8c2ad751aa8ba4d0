// Dialog for one manual run with parameters, an executor or a priority that differ from the job's. If it is
// opened from a run, it begins with the values of this run.
import './texts.en';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { ApiError, call } from '../../../api/client';
import { newKey } from '../../../api/keys';
import { itemsOf, useExecutors, useJob } from '../../../api/queries';
import type { Job, Run } from '../../../api/types';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { Field } from '../../../ui/field';
import { FormDialog } from '../../../ui/dialogs/form_dialog';
import { Modal } from '../../../ui/dialogs/modal';
import { LoadFailure, Loading } from '../../../ui/ui';
import { jobPath } from './job_actions';
import { RuledField } from './ruled_fields';
import {
  bodyOf,
  pointersOf,
  ruledPointersOf,
  rulesOfJob,
  startOf,
  whyNoExecutor,
  wrongIn,
  type RunWith,
  type Wrong,
} from './run_with_values';

interface Props {
  jobId: string;
  name: string;
  run?: Run;
  finalFocus?: () => HTMLElement | null;
  onClose: () => void;
}

const isUnsure = (error: unknown) =>
  error instanceof ApiError && ['unreachable', 'outcome_unknown', 'request_in_flight'].includes(error.code);

export default function RunWithDialog(props: Props) {
  const { t } = useTranslation();
  const job = useJob(props.jobId, 0);
  if (job.data) return <Known {...props} job={job.data.data} />;
  return (
    <Modal
      open
      onClose={props.onClose}
      finalFocus={props.finalFocus}
      title={t('run_with.title', { name: props.name })}
      actions={
        <button type="button" className="button" onClick={props.onClose}>
          {t('cancel')}
        </button>
      }
    >
      {job.isPending ? <Loading /> : <LoadFailure error={job.error} onRetry={() => void job.refetch()} />}
    </Modal>
  );
}

// Sends the request. If no response arrives and the user submits the same values again, the request has the
// same key. So it makes one run.
function useExecute(job: Job) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const submission = useRef({ body: '', key: '' });
  return async (body: Record<string, unknown>) => {
    const text = JSON.stringify(body);
    if (submission.current.body !== text) submission.current = { body: text, key: newKey() };
    try {
      const { data } = await call<{ run_id: string }>('POST', jobPath(job.job_id) + '/execute', {
        body,
        idempotencyKey: submission.current.key,
      });
      void client.invalidateQueries({ queryKey: ['runs'] });
      await navigate({ to: '/runs/$id', params: { id: data.run_id } });
    } catch (error) {
      if (!isUnsure(error)) submission.current = { body: '', key: '' };
      throw error;
    }
  };
}

function Known({ job: shown, run, finalFocus, onClose }: Props & { job: Job }) {
  const { t } = useTranslation();
  const [job] = useState(shown); // stays the same while the dialog is open, although the page may refresh
  const [values, setValues] = useState(() => startOf(job, run));
  const [wrong, setWrong] = useState<Wrong>({});
  const execute = useExecute(job);
  const set = (change: Partial<RunWith>) => {
    setValues({ ...values, ...change });
    setWrong({});
  };
  const ofParameters = pointersOf(values);
  const rules = Object.entries(rulesOfJob(job));
  const noExecutor = whyNoExecutor(job);
  const said = (field: 'parameters' | 'priority') =>
    wrong[field] && t(wrong[field].key, { names: wrong[field].names });
  return (
    <FormDialog
      title={t(run ? 'run_with.again_title' : 'run_with.title', { name: job.name })}
      save={t('run_with.start')}
      onClose={onClose}
      finalFocus={finalFocus}
      pointers={['/executor_id', '/priority', ...ruledPointersOf(values), ...ofParameters]}
      onSave={async () => {
        const found = wrongIn(values, job);
        setWrong(found);
        if (Object.keys(found).length > 0) return;
        await execute(bodyOf(values, job));
        onClose();
      }}
    >
      {({ errorOf }) => (
        <>
          {run && <p className="text-muted">{t('run_with.new_run')}</p>}
          {job.state === 'PAUSED' && <p className="text-muted">{t('run_with.paused')}</p>}
          {rules.map(([name, rule]) => {
            const problem = wrong.ruled?.[name];
            return (
              <RuledField
                key={name}
                name={name}
                rule={rule}
                preset={job.parameters[name]}
                text={values.ruled[name] ?? ''}
                error={problem ? t(problem.key) : errorOf('/parameters/' + name)}
                onChange={(text) => set({ ruled: { ...values.ruled, [name]: text } })}
              />
            );
          })}
          <Field
            label={t(rules.length > 0 ? 'run_with.other_parameters' : 'run_with.parameters')}
            error={said('parameters') ?? ofParameters.map(errorOf).find((one) => one !== undefined)}
            hint={t('run_with.parameters_hint')}
          >
            <textarea
              className="input mono"
              rows={Math.min(10, Math.max(3, values.parameters.split('\n').length))}
              spellCheck={false}
              autoComplete="off"
              placeholder="{}"
              value={values.parameters}
              onChange={(event) => set({ parameters: event.target.value })}
            />
          </Field>
          {noExecutor ? (
            <p className="text-muted">{t(noExecutor)}</p>
          ) : (
            <Executor
              job={job}
              value={values.executor_id}
              error={errorOf('/executor_id')}
              onChange={(executor_id) => set({ executor_id })}
            />
          )}
          <Field
            label={t('run_with.priority')}
            error={said('priority') ?? errorOf('/priority')}
            hint={t('run_with.priority_hint')}
          >
            <input
              className="input"
              inputMode="numeric"
              autoComplete="off"
              value={values.priority}
              onChange={(event) => set({ priority: event.target.value })}
            />
          </Field>
        </>
      )}
    </FormDialog>
  );
}

function Executor(props: { job: Job; value: string; error?: string; onChange: (executor: string) => void }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const executors = itemsOf(useExecutors().data);
  const { executor_id: only, executor_selector: labels } = props.job;
  const where = only || (labels ? t('run_with.executor_labels', { labels }) : t('run_with.executor_any'));
  return (
    <Field label={t('run_with.executor')} error={props.error} hint={t('run_with.executor_hint')}>
      <select className="input" value={props.value} onChange={(event) => props.onChange(event.target.value)}>
        <option value="">{t('run_with.executor_job', { where })}</option>
        {executors.map((one) => (
          <option key={one.executor_id} value={one.executor_id}>
            {one.executor_id} ({textOr('state.', one.state)})
          </option>
        ))}
      </select>
    </Field>
  );
}

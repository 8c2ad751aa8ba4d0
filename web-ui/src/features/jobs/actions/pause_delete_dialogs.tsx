// Dialogs that pause a job, with a reason, and delete a job, after a confirmation.
import './texts.en';
import { useId, useState } from 'react';
import type { Job } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { Modal } from '../../../ui/dialogs/modal';
import { useDeleteJob } from './job_actions';

const REASON_MAX = 1000;

export function PauseDialog(props: {
  job: Job | null;
  onClose: () => void;
  onPause: (job: Job, reason: string) => void;
}) {
  const { t } = useTranslation();
  const [reason, setReason] = useState('');
  const id = useId();
  const job = props.job;
  return (
    <Modal
      open={job !== null}
      onClose={props.onClose}
      title={t('jobs.pause_title', { name: job?.name ?? '' })}
      actions={
        <>
          <button type="button" className="button" onClick={props.onClose}>
            {t('cancel')}
          </button>
          <button
            type="button"
            className="button button-primary"
            onClick={() => {
              if (job) props.onPause(job, reason.trim());
              setReason('');
              props.onClose();
            }}
          >
            {t('jobs.pause')}
          </button>
        </>
      }
    >
      <p className="mb-3 text-muted">{t('jobs.pause_explain')}</p>
      <label htmlFor={id} className="mb-1 block">
        {t('reason.label')}
      </label>
      <input
        id={id}
        className="input"
        maxLength={REASON_MAX}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
    </Modal>
  );
}

// A job after which others start is deleted only if the user confirms that too, after reading their names.
export function DeleteDialog(props: { job: Job | null; onClose: () => void; onDone?: () => void }) {
  const { t } = useTranslation();
  const [dependents, setDependents] = useState<string[] | null>(null);
  const job = props.job;
  const name = job?.name ?? '';
  const close = () => {
    setDependents(null);
    props.onClose();
  };
  const remove = useDeleteJob({
    onDone: () => {
      close();
      props.onDone?.();
    },
    onRefused: close,
    onDependents: setDependents,
  });
  return (
    <Modal
      open={job !== null}
      onClose={close}
      title={t('jobs.delete_title', { name })}
      actions={
        <>
          <button type="button" className="button" onClick={close}>
            {t('cancel')}
          </button>
          <button
            type="button"
            className="button button-danger"
            // The button is not disabled during the request, because a disabled button loses the focus.
            onClick={() => {
              if (job && !remove.isPending) remove.mutate({ job, force: dependents !== null });
            }}
          >
            {t(dependents === null ? 'jobs.delete' : 'jobs.delete_anyway')}
          </button>
        </>
      }
    >
      {dependents === null ? (
        <p className="text-muted">{t('jobs.delete_explain')}</p>
      ) : (
        <div role="alert">
          <p>{t('jobs.delete_dependents', { name })}</p>
          <ul className="my-2 list-disc pl-5 wrap-anywhere">
            {dependents.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
          <p className="text-muted">{t('jobs.delete_anyway_explain')}</p>
        </div>
      )}
    </Modal>
  );
}

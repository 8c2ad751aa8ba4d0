// Dialogs that pause a job, with a reason, and delete a job, after a confirmation.
import './texts.en';
import { useId, useState } from 'react';
import type { Job } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { Modal } from '../../../ui/dialogs/modal';

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

export function DeleteDialog(props: { job: Job | null; onClose: () => void; onDelete: (job: Job) => void }) {
  const { t } = useTranslation();
  const job = props.job;
  return (
    <Modal
      open={job !== null}
      onClose={props.onClose}
      title={t('jobs.delete_title', { name: job?.name ?? '' })}
      actions={
        <>
          <button type="button" className="button" onClick={props.onClose}>
            {t('cancel')}
          </button>
          <button
            type="button"
            className="button button-danger"
            onClick={() => {
              if (job) props.onDelete(job);
              props.onClose();
            }}
          >
            {t('jobs.delete')}
          </button>
        </>
      }
    >
      <p className="text-muted">{t('jobs.delete_explain')}</p>
    </Modal>
  );
}

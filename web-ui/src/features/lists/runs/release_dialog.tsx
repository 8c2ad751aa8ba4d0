// Dialog that asks for the reason, and ends the wait of a run for runs of other jobs.
import '../../runs/waiting/texts.en';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../../api/client';
import { useTranslation } from '../../../i18n/use_translation';
import { Modal } from '../../../ui/dialogs/modal';
import { Field } from '../../../ui/field';
import { toast, toastError } from '../../../ui/toasts';
import { explain } from '../../../ui/ui';

const REASON_MAX = 1000;

export default function ReleaseDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [reason, setReason] = useState('');
  const release = useMutation({
    mutationFn: () =>
      call('POST', `runs/${encodeURIComponent(id)}/release`, {
        body: reason.trim() ? { reason: reason.trim() } : {},
      }),
    onSuccess: () => toast(t('release.done')),
    onError: (error) => toastError(t('error.action'), explain(error, t)),
    onSettled: () => {
      onClose();
      void client.invalidateQueries({ queryKey: ['runs'] });
    },
  });
  return (
    <Modal
      open
      onClose={onClose}
      title={t('release.title')}
      actions={
        <>
          <button type="button" className="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button
            type="button"
            className="button button-primary"
            disabled={release.isPending}
            onClick={() => release.mutate()}
          >
            {t('release.run')}
          </button>
        </>
      }
    >
      <p className="mb-3 text-muted">{t('release.explain')}</p>
      <Field label={t('reason.label')}>
        <input
          className="input"
          maxLength={REASON_MAX}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </Field>
    </Modal>
  );
}

// Dialog that pauses the whole cluster. It says what stops and what continues, and asks for a reason.
import './texts.en';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from '../../i18n/use_translation';
import { Field } from '../../ui/field';
import { FormDialog } from '../../ui/dialogs/form_dialog';
import { toast } from '../../ui/toasts';
import { pauseCluster } from './pause_cluster';

const REASON_MAX = 500;

export default function PauseClusterDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [reason, setReason] = useState('');
  return (
    <FormDialog
      title={t('pause.title')}
      save={t('pause.go')}
      danger
      pointers={['/reason']}
      onClose={onClose}
      onSave={async () => {
        await pauseCluster(client, reason.trim());
        toast(t('pause.done'));
        onClose();
      }}
    >
      {({ errorOf }) => (
        <>
          <ul className="grid list-disc gap-1.5 pl-5 text-muted">
            <li>{t('pause.stops')}</li>
            <li>{t('pause.goes_on')}</li>
            <li>{t('pause.waits')}</li>
            <li>{t('pause.after')}</li>
          </ul>
          <Field label={t('pause.reason')} error={errorOf('/reason')} hint={t('pause.reason_hint')}>
            <input
              className="input"
              required
              maxLength={REASON_MAX}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          </Field>
        </>
      )}
    </FormDialog>
  );
}

// Dialog that skips a node of a run.
import '../../workflows/texts.en';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../../api/client';
import type { Run } from '../../../api/types';
import type { RunNodes } from '../../../api/workflows';
import { useTranslation } from '../../../i18n/use_translation';
import { Modal } from '../../../ui/dialogs/modal';
import { toast } from '../../../ui/toasts';
import { explain } from '../../../ui/ui';

export default function SkipDialog(props: { run: Run; node: string; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [reason, setReason] = useState('');
  const { node } = props;
  const { run_id } = props.run;
  const skip = useMutation({
    mutationFn: () =>
      call<RunNodes>('POST', `runs/${encodeURIComponent(run_id)}/nodes/${encodeURIComponent(node)}/skip`, {
        body: reason.trim() ? { reason: reason.trim() } : {},
      }),
    onSuccess: ({ data }) => {
      client.setQueriesData({ queryKey: ['runs', run_id, 'nodes'] }, data);
      toast(t('nodes.skipped', { node }));
      props.onClose();
    },
  });
  return (
    <Modal
      open
      onClose={props.onClose}
      title={t('nodes.skip_title', { node })}
      actions={
        <>
          <button type="button" className="button" onClick={props.onClose}>
            {t('cancel')}
          </button>
          <button
            type="button"
            className="button button-primary"
            disabled={skip.isPending}
            onClick={() => skip.mutate()}
          >
            {t('nodes.skip')}
          </button>
        </>
      }
    >
      <p className="mb-3 text-muted">{t('nodes.skip_explain')}</p>
      <label className="block">
        <span className="mb-1 block">{t('reason.label')}</span>
        <input
          className="input"
          maxLength={1000}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
      {skip.isError && (
        <p role="alert" className="mt-3 rounded-md bg-bad-soft px-3 py-2 text-bad">
          {explain(skip.error, t)}
        </p>
      )}
    </Modal>
  );
}

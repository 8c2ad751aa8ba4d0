// Dialog that approves or refuses an open approval of a workflow run.
import '../../workflows/texts.en';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../../api/client';
import { newKey } from '../../../api/keys';
import type { RunNode, RunNodes } from '../../../api/workflows';
import { useTranslation } from '../../../i18n/use_translation';
import { Modal } from '../../../ui/dialogs/modal';
import { toast } from '../../../ui/toasts';
import { explain } from '../../../ui/ui';
import { ApprovalMessage } from './approval_message';

type Decision = 'approve' | 'refuse';

// `workflow`: the run that the node is of.
export default function DecideDialog(props: {
  workflow: string;
  node: Pick<RunNode, 'id' | 'message'>;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { workflow, node } = props;
  const [reason, setReason] = useState('');
  const [key] = useState(newKey);
  const decide = useMutation({
    mutationFn: (decision: Decision) =>
      call<RunNodes>(
        'POST',
        `runs/${encodeURIComponent(workflow)}/nodes/${encodeURIComponent(node.id)}/decide`,
        {
          body: { decision, ...(reason.trim() ? { reason: reason.trim() } : {}) },
          idempotencyKey: key + decision,
        },
      ),
    onSuccess: (_, decision) => {
      toast(t(decision === 'approve' ? 'nodes.did_approve' : 'nodes.did_refuse', { node: node.id }));
      void client.invalidateQueries({ queryKey: ['runs'] });
      props.onClose();
    },
  });
  return (
    <Modal
      open
      onClose={props.onClose}
      title={t('nodes.decide_title', { node: node.id })}
      actions={
        <>
          <button type="button" className="button" onClick={props.onClose}>
            {t('cancel')}
          </button>
          <button
            type="button"
            className="button button-danger"
            disabled={decide.isPending || !reason.trim()}
            title={reason.trim() ? undefined : t('nodes.refuse_needs')}
            onClick={() => decide.mutate('refuse')}
          >
            {t('nodes.refuse')}
          </button>
          <button
            type="button"
            className="button button-primary"
            disabled={decide.isPending}
            onClick={() => decide.mutate('approve')}
          >
            {t('nodes.approve')}
          </button>
        </>
      }
    >
      <ApprovalMessage text={node.message} className="mb-3" />
      <label className="block">
        <span className="mb-1 block">{t('nodes.decision_reason')}</span>
        <input
          className="input"
          maxLength={1000}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
      {decide.isError && (
        <p role="alert" className="mt-3 rounded-md bg-bad-soft px-3 py-2 text-bad">
          {explain(decide.error, t)}
        </p>
      )}
    </Modal>
  );
}

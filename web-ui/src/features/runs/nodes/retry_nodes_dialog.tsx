// Dialog that retries a workflow run: from what failed, from the start, or from a node. Shows first which
// nodes would run again.
import '../../workflows/texts.en';
import '../detail/texts.en';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { call } from '../../../api/client';
import { newKey } from '../../../api/keys';
import type { Run } from '../../../api/types';
import { previewRetry, useRunNodes } from '../../../api/workflows';
import { useTranslation } from '../../../i18n/use_translation';
import { Modal } from '../../../ui/dialogs/modal';
import { toast, toastError } from '../../../ui/toasts';
import { explain } from '../../../ui/ui';

// `node`: the node that is chosen first.
export default function RetryNodesDialog(props: { run: Run; node?: string; onClose: () => void }) {
  const { run, onClose } = props;
  const { t } = useTranslation();
  const client = useQueryClient();
  const id = useId();
  const nodes = useRunNodes(run).data?.nodes ?? [];
  const [from, setFrom] = useState(props.node === undefined ? 'failed' : '/' + props.node);
  const [anyway, setAnyway] = useState(false);
  const [key] = useState(newKey);
  const body = {
    from: from === 'failed' || from === 'start' ? from : [from.slice(1)],
    ...(anyway ? { confirm_overlap: true } : {}),
  };
  const preview = useQuery({
    queryKey: ['retry preview', run.run_id, run.attempt, body],
    queryFn: () => previewRetry(run.run_id, body),
    retry: false,
    gcTime: 0,
  });
  const retry = useMutation({
    mutationFn: () =>
      call<Run>('POST', `runs/${encodeURIComponent(run.run_id)}/retry`, {
        body,
        idempotencyKey: key + from + anyway,
      }),
    onSuccess: () => {
      toast(t('run.retried'));
      void client.invalidateQueries({ queryKey: ['runs'] });
      onClose();
    },
    onError: (error) => toastError(t('error.action'), explain(error, t)),
  });
  return (
    <Modal
      open
      onClose={onClose}
      title={t('nodes.retry_title')}
      actions={
        <>
          <button type="button" className="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button
            type="button"
            className="button button-primary"
            disabled={!preview.data || retry.isPending}
            onClick={() => retry.mutate()}
          >
            {t('nodes.retry_confirm')}
          </button>
        </>
      }
    >
      <label htmlFor={id} className="mb-1 block">
        {t('nodes.retry_from')}
      </label>
      <select id={id} className="input" value={from} onChange={(event) => setFrom(event.target.value)}>
        <option value="failed">{t('nodes.retry_failed')}</option>
        <option value="start">{t('nodes.retry_start')}</option>
        {nodes.map((node) => (
          <option key={node.id} value={'/' + node.id}>
            {t('nodes.retry_node', { node: node.id })}
          </option>
        ))}
      </select>
      <label className="mt-3 flex items-center gap-2">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={anyway}
          onChange={(event) => setAnyway(event.target.checked)}
        />
        {t('nodes.overlap')}
      </label>
      <p className="mt-3 min-h-6 text-muted wrap-anywhere" role="status">
        {preview.data
          ? t('nodes.would_run', { nodes: preview.data.run_again.join(', ') || '–' })
          : preview.isError && explain(preview.error, t)}
      </p>
    </Modal>
  );
}

// Dialogs that label, drain or disable an executor. Their code is loaded when the first one is opened.
import './texts.en';
import '../jobs/form/texts.en';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { ApiError, call } from '../../api/client';
import type { Executor } from '../../api/types';
import { fetchProblems } from '../../i18n/problems';
import { useTranslation } from '../../i18n/use_translation';
import { Field } from '../../ui/field';
import { FormDialog } from '../../ui/dialogs/form_dialog';
import { Modal } from '../../ui/dialogs/modal';
import { toast } from '../../ui/toasts';
import { explain } from '../../ui/ui';
import { linesOf } from '../jobs/form/form_schema';
import { executorPath } from './executor_path';

const REASON_MAX = 1000;

export function ReasonDialog({
  executor,
  verb,
  onClose,
  onDone,
}: {
  executor: Executor;
  verb: 'drain' | 'disable';
  onClose: () => void;
  onDone: () => void;
}) {
  const { t } = useTranslation();
  const [reason, setReason] = useState('');
  const name = executor.executor_id;
  return (
    <FormDialog
      title={t(`executors.${verb}_title`, { name })}
      save={t(`executors.${verb}`)}
      pointers={['/reason']}
      onClose={onClose}
      onSave={async () => {
        await call<Executor>('POST', `${executorPath(name)}/${verb}`, {
          body: reason.trim() ? { reason: reason.trim() } : {},
        });
        toast(t(`executors.done_${verb}`, { name }));
        onDone();
      }}
    >
      {({ errorOf }) => (
        <>
          <p className="text-muted">{t(`executors.${verb}_explain`, { n: executor.running })}</p>
          <Field label={t('reason.label')} error={errorOf('/reason')}>
            <input
              className="input"
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

const linesIn = (labels: Executor['labels']) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .toSorted();
const textOf = (labels: Executor['labels']) => linesIn(labels).join('\n');
const same = (a: Executor['labels'], b: Executor['labels']) => textOf(a) === textOf(b);

// Writes the labels. The list of executors does not contain the ETag, so the executor is read first. If its
// labels are no longer those that the dialog shows, they are not overwritten. Returns null if the labels are
// already as wanted, for example because the response to an earlier attempt was lost.
async function putLabels(
  name: string,
  shown: Executor['labels'],
  labels: Executor['labels'],
  onStale: (labels: Executor['labels']) => void,
) {
  const now = await call<Executor>('GET', executorPath(name));
  if (same(now.data.labels, labels)) return null;
  if (!same(now.data.labels, shown)) {
    await fetchProblems();
    onStale(now.data.labels);
    throw new ApiError(412, 'stale_version', 'The labels were changed since they were read.');
  }
  return call<Executor>('PATCH', executorPath(name), { body: { labels }, ifMatch: now.etag });
}

export function LabelDialog({ executor, onClose }: { executor: Executor; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const id = useId();
  const [shown, setShown] = useState(executor.labels); // `executor` may change later, `shown` does not
  const [text, setText] = useState(() => textOf(shown));
  const labels = linesOf(text);
  const save = useMutation({
    mutationFn: () => putLabels(executor.executor_id, shown, labels ?? {}, setShown),
    onSuccess: () => {
      toast(t('executors.labelled', { name: executor.executor_id }));
      void client.invalidateQueries({ queryKey: ['executors'] });
      onClose();
    },
  });
  const error = labels === null ? t('invalid.lines') : save.isError ? explain(save.error, t) : '';
  return (
    <Modal
      open
      onClose={onClose}
      title={t('executors.label_title', { name: executor.executor_id })}
      actions={
        <>
          <button type="button" className="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button
            type="button"
            className="button button-primary"
            disabled={labels === null || save.isPending}
            onClick={() => save.mutate()}
          >
            {t('form.save')}
          </button>
        </>
      }
    >
      <label htmlFor={id} className="mb-1 block font-medium">
        {t('form.labels')}
      </label>
      <textarea
        id={id}
        className="input mono"
        rows={5}
        spellCheck={false}
        value={text}
        aria-invalid={error ? true : undefined}
        aria-describedby={id + '-more'}
        onChange={(event) => setText(event.target.value)}
      />
      <p id={id + '-more'} role={error ? 'alert' : undefined} className={error ? 'text-bad' : 'text-muted'}>
        {error || t('form.lines_hint')}
      </p>
      {save.error instanceof ApiError && save.error.code === 'stale_version' && (
        <pre className="mono mt-2 whitespace-pre-wrap" aria-label={t('executors.labels_now')}>
          {textOf(shown) || '–'}
        </pre>
      )}
    </Modal>
  );
}

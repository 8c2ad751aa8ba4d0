// Dialogs that retry the run of a dead letter, or discard the dead letter.
import '../runs/detail/texts.en';
import './texts.en';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { ApiError, call, get } from '../../api/client';
import { newKey } from '../../api/keys';
import type { DeadLetter, Run } from '../../api/types';
import { useDenied } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { FormDialog } from '../../ui/dialogs/form_dialog';
import { Modal } from '../../ui/dialogs/modal';
import { toast } from '../../ui/toasts';

export type Verb = 'replay' | 'discard';

const letterPath = (id: string) => 'dead-letters/' + encodeURIComponent(id);
const NO_POINTERS: readonly string[] = [];

export default function DeadLetterDialog({
  letter,
  verb,
  onClose,
}: {
  letter: DeadLetter;
  verb: Verb;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const denied = useDenied();
  // The list does not contain the owner, so the dead letter itself is requested.
  const read = useQuery({
    queryKey: ['dead-letters', letter.id],
    queryFn: ({ signal }) => get<DeadLetter>(letterPath(letter.id), {}, signal),
    retry: false,
  });
  const key = useRef(newKey());
  const [overlap, setOverlap] = useState(false);
  // Returns false if the user is to be asked first.
  const replay = async () => {
    try {
      await call<Run>('POST', `runs/${encodeURIComponent(letter.run_id)}/retry`, {
        body: overlap ? { confirm_overlap: true } : {},
        idempotencyKey: key.current,
      });
    } catch (error) {
      if (
        error instanceof ApiError &&
        error.status >= 400 &&
        error.status < 500 &&
        error.code !== 'request_in_flight'
      )
        key.current = newKey();
      if (overlap || !(error instanceof ApiError && error.asksOverlap)) throw error;
      setOverlap(true);
      return false;
    }
    toast(t('run.retried'));
    return true;
  };
  const discard = async () => {
    await call('DELETE', letterPath(letter.id));
    toast(t('dead.discarded', { job: letter.job_id }));
    return true;
  };
  const why = denied(read.data ?? letter, 'discard');
  if (read.isPending) return null;
  const title = t(`dead.${verb}_title`, { job: letter.job_id });
  if (why) {
    return (
      <Modal
        open
        onClose={onClose}
        title={title}
        actions={
          <button type="button" className="button" onClick={onClose}>
            {t('close')}
          </button>
        }
      >
        <p role="alert" className="text-bad">
          {t(why)}
        </p>
      </Modal>
    );
  }
  return (
    <FormDialog
      title={title}
      save={t(overlap ? 'run.overlap_confirm' : `dead.${verb}`)}
      danger={verb === 'discard' || overlap}
      pointers={NO_POINTERS}
      onClose={onClose}
      onSave={async () => {
        try {
          if (await (verb === 'replay' ? replay() : discard())) onClose();
        } finally {
          void client.invalidateQueries({
            queryKey: ['dead-letters'],
            predicate: (query) => query.queryKey[1] !== letter.id,
          });
          void client.invalidateQueries({ queryKey: ['runs'] });
        }
      }}
    >
      {() => (
        <p className="text-muted">
          {t(overlap ? 'run.overlap' : `dead.${verb}_explain`, {
            n: letter.attempts,
            count: letter.attempts,
          })}
        </p>
      )}
    </FormDialog>
  );
}

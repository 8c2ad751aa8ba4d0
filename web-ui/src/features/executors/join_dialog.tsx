// Dialog that adds an executor. It shows a one-time token, only once, and the commands to run on the
// executor's host.
import './texts.en';
import '../tokens/texts.en';
import { Copy } from 'lucide-react';
import { useState } from 'react';
import { ApiError, call } from '../../api/client';
import { useStatus } from '../../api/queries';
import { useTranslation } from '../../i18n/use_translation';
import { copyText } from '../../lib/clipboard';
import { Field } from '../../ui/field';
import { FormDialog } from '../../ui/dialogs/form_dialog';
import { Modal } from '../../ui/dialogs/modal';
import { Time } from '../../ui/time';
import { toast } from '../../ui/toasts';
import { Segments } from '../../ui/ui';
import { PLACES, commandsFor, isExecutorId, type Place } from './join_values';

const LIVES_S = [3600, 86_400, 604_800] as const;

interface Made {
  executor_id: string;
  join_token: string | null;
  expires_at: string | null;
  link_address: string | null;
}

export default function JoinDialog({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<Made | null>(null);
  return made === null ? (
    <AskDialog onClose={onClose} onMade={setMade} />
  ) : (
    <CommandsDialog made={made} onClose={onClose} />
  );
}

function AskDialog({ onClose, onMade }: { onClose: () => void; onMade: (made: Made) => void }) {
  const { t } = useTranslation();
  const [executor, setExecutor] = useState('');
  const [life, setLife] = useState<number>(LIVES_S[0]);
  const id = executor.trim();
  return (
    <FormDialog
      title={t('join.title')}
      save={t('join.make')}
      pointers={['/executor_id']}
      onClose={onClose}
      onSave={async () => {
        try {
          onMade(
            (
              await call<Made>('POST', 'executors/join-tokens', {
                body: { executor_id: id, expires_in_s: life },
              })
            ).data,
          );
        } catch (error) {
          // If the cluster has no certificates, there is no token to create. The executors of such a cluster
          // share a secret.
          if (!(error instanceof ApiError && error.code === 'link_without_tls')) throw error;
          onMade({ executor_id: id, join_token: null, expires_at: null, link_address: null });
        }
      }}
    >
      {({ errorOf }) => (
        <>
          <Field
            label={t('join.id')}
            hint={t('join.id_hint')}
            error={errorOf('/executor_id') ?? (id === '' || isExecutorId(id) ? undefined : t('join.id_hint'))}
          >
            <input
              className="input mono"
              autoComplete="off"
              spellCheck={false}
              value={executor}
              onChange={(event) => setExecutor(event.target.value)}
            />
          </Field>
          <Field label={t('join.life')} hint={t('join.life_hint')}>
            <select className="input" value={life} onChange={(event) => setLife(Number(event.target.value))}>
              {LIVES_S.map((one) => (
                <option key={one} value={one}>
                  {t(`join.life_${one}`)}
                </option>
              ))}
            </select>
          </Field>
        </>
      )}
    </FormDialog>
  );
}

function CommandsDialog({ made, onClose }: { made: Made; onClose: () => void }) {
  const { t } = useTranslation();
  const [place, setPlace] = useState<Place>('shell');
  const version = useStatus().data?.version ?? 'latest';
  const text = commandsFor(place, {
    executor: made.executor_id,
    token: made.join_token,
    version,
    address: made.link_address,
  });
  const copy = async () => {
    toast(t((await copyText(text)) ? 'tokens.copied' : 'tokens.copy_by_hand'));
  };
  return (
    <Modal
      open
      onClose={onClose}
      title={t('join.commands', { name: made.executor_id })}
      actions={
        <>
          <button type="button" className="button" onClick={() => void copy()}>
            <Copy aria-hidden size={15} />
            {t('tokens.copy')}
          </button>
          <button type="button" className="button button-primary" onClick={onClose}>
            {t('tokens.noted')}
          </button>
        </>
      }
    >
      <p className="mb-3">
        {made.join_token === null ? (
          t('join.secret')
        ) : (
          <>
            {t('join.once')} <Time at={made.expires_at} absolute />
          </>
        )}
      </p>
      <Segments
        label={t('join.where')}
        value={place}
        choices={PLACES.map((one) => ({ value: one, label: t(`join.${one}`) }))}
        onChange={(next) => setPlace(next as Place)}
      />
      <pre
        className="mono my-3 max-h-[40dvh] overflow-auto rounded bg-code p-3 select-all"
        role="region"
        aria-label={t('join.typed')}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable area must be reachable by keyboard
        tabIndex={0}
      >
        {text}
      </pre>
      <p className="text-muted">
        {t(made.link_address === null ? `join.needs_${place}` : 'join.needs_link')}
      </p>
    </Modal>
  );
}

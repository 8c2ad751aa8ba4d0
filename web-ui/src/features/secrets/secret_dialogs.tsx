// Dialogs that create, edit and delete a secret. The value is sent to the server and never read back.
import './texts.en';
import { useState } from 'react';
import { call } from '../../api/client';
import type { Secret } from '../../api/types';
import { useSession } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { Field } from '../../ui/field';
import { FormDialog } from '../../ui/dialogs/form_dialog';
import { toast } from '../../ui/toasts';
import { changeOf, mayShare } from './secret_values';

interface Props {
  onClose: () => void;
  onDone: () => void;
}
type OfSecret = Props & { secret: Secret };

const DESCRIPTION_MAX = 1000;
const pathOf = (secret: Secret) => 'secrets/' + encodeURIComponent(secret.name);

// Field for a value. The value may have several lines and is hidden like a password. The browser does not
// store it and does not offer it for completion.
function ValueField(props: {
  label: string;
  hint: string;
  error?: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const { t } = useTranslation();
  const [shown, setShown] = useState(false);
  return (
    <>
      <Field label={props.label} error={props.error} hint={props.hint}>
        <textarea
          className={'input mono ' + (shown ? '' : 'concealed')}
          rows={3}
          autoComplete="off"
          autoCapitalize="off"
          autoCorrect="off"
          spellCheck={false}
          value={props.value}
          onChange={(event) => props.onChange(event.target.value)}
        />
      </Field>
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          className="size-4"
          checked={shown}
          onChange={(event) => setShown(event.target.checked)}
        />
        {t('secrets.show')}
      </label>
    </>
  );
}

function DescriptionField(props: { error?: string; value: string; onChange: (value: string) => void }) {
  const { t } = useTranslation();
  return (
    <Field label={t('secrets.description')} error={props.error}>
      <input
        className="input"
        autoComplete="off"
        maxLength={DESCRIPTION_MAX}
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
      />
    </Field>
  );
}

function SharedField(props: { value: boolean; onChange: (value: boolean) => void }) {
  const { t } = useTranslation();
  const session = useSession();
  const may = session.state === 'signed_in' && mayShare(session.person);
  return (
    <label className="flex items-start gap-2">
      <input
        type="checkbox"
        className="mt-0.5 size-4"
        disabled={!may}
        checked={props.value}
        onChange={(event) => props.onChange(event.target.checked)}
      />
      <span>
        {t('secrets.shared')}
        <span className="block text-xs text-muted">
          {t(may ? 'secrets.shared_hint' : 'secrets.shared_denied')}
        </span>
      </span>
    </label>
  );
}

export function CreateSecretDialog({ onClose, onDone }: Props) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const [description, setDescription] = useState('');
  const [shared, setShared] = useState(false);
  return (
    <FormDialog
      title={t('secrets.new')}
      save={t('secrets.create')}
      onClose={onClose}
      pointers={['/name', '/value', '/description']}
      onSave={async () => {
        await call<Secret>('POST', 'secrets', {
          body: { name: name.trim(), value, description: description.trim(), shared },
        });
        toast(t('secrets.created', { name: name.trim() }));
        onDone();
      }}
    >
      {({ errorOf }) => (
        <>
          <Field label={t('auth.name')} error={errorOf('/name')} hint={t('secrets.name_hint')}>
            <input
              className="input mono"
              autoComplete="off"
              spellCheck={false}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          </Field>
          <ValueField
            label={t('secrets.value')}
            hint={t('secrets.value_hint')}
            error={errorOf('/value')}
            value={value}
            onChange={setValue}
          />
          <DescriptionField error={errorOf('/description')} value={description} onChange={setDescription} />
          <SharedField value={shared} onChange={setShared} />
        </>
      )}
    </FormDialog>
  );
}

export function EditSecretDialog({ secret, onClose, onDone }: OfSecret) {
  const { t } = useTranslation();
  const [value, setValue] = useState('');
  const [description, setDescription] = useState(secret.description);
  const [shared, setShared] = useState(secret.shared);
  return (
    <FormDialog
      title={t('secrets.edit_named', { name: secret.name })}
      save={t('form.save')}
      onClose={onClose}
      pointers={['/value', '/description']}
      onSave={async () => {
        const change = changeOf(secret, value, description.trim(), shared);
        if (Object.keys(change).length > 0) {
          await call<Secret>('PUT', pathOf(secret), { body: change, ifMatch: `"v${secret.version}"` });
          toast(
            t(change.value === undefined ? 'secrets.changed' : 'secrets.replaced', { name: secret.name }),
          );
        }
        onDone();
      }}
    >
      {({ errorOf }) => (
        <>
          <ValueField
            label={t('secrets.new_value')}
            hint={t('secrets.new_value_hint')}
            error={errorOf('/value')}
            value={value}
            onChange={setValue}
          />
          <DescriptionField error={errorOf('/description')} value={description} onChange={setDescription} />
          <SharedField value={shared} onChange={setShared} />
        </>
      )}
    </FormDialog>
  );
}

export function DeleteSecretDialog({ secret, onClose, onDone }: OfSecret) {
  const { t } = useTranslation();
  return (
    <FormDialog
      title={t('secrets.delete_title', { name: secret.name })}
      save={t('jobs.delete')}
      danger
      onClose={onClose}
      pointers={[]}
      onSave={async () => {
        await call<void>('DELETE', pathOf(secret), { ifMatch: `"v${secret.version}"` });
        toast(t('secrets.deleted', { name: secret.name }));
        onDone();
      }}
    >
      {() => <p className="text-muted">{t('secrets.delete_explain')}</p>}
    </FormDialog>
  );
}

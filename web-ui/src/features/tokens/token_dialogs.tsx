// Dialogs that create and revoke an API token. A new token is shown only once.
import '../account/texts.en';
import './texts.en';
import '../users/texts.en';
import { Check, Copy } from 'lucide-react';
import { useRef, useState } from 'react';
import { call } from '../../api/client';
import { useRoles } from '../../api/queries';
import { serverNow } from '../../lib/server_clock';
import type { ApiToken } from '../../api/types';
import { useSession } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { Field } from '../../ui/field';
import { Modal } from '../../ui/dialogs/modal';
import { toast } from '../../ui/toasts';
import { FormDialog } from '../../ui/dialogs/form_dialog';
import { LIFETIMES, expiryOf, rolesUpTo, scopesOf, type Lifetime } from './token_values';

export function CreateTokenDialog({
  onClose,
  onMade,
}: {
  onClose: () => void;
  onMade: (token: ApiToken & { token: string }) => void;
}) {
  const { t } = useTranslation();
  const session = useSession();
  const person = session.state === 'signed_in' ? session.person : null;
  const own = session.state === 'signed_in' ? (person?.role ?? 'admin') : 'read_only';
  const [name, setName] = useState('');
  const [role, setRole] = useState(own);
  const [lifetime, setLifetime] = useState<Lifetime>('90');
  const [date, setDate] = useState('');
  const [scopes, setScopes] = useState<readonly string[] | null>(null);
  const roles = useRoles();
  const possible = scopesOf(role, roles, person?.permissions);
  return (
    <FormDialog
      title={t('tokens.new')}
      save={t('tokens.create')}
      onClose={onClose}
      pointers={['/name', '/role', '/expires_at', '/scopes']}
      onSave={async () => {
        const expires = expiryOf(lifetime, date, serverNow());
        const body = {
          name: name.trim(),
          role,
          ...(expires === null ? {} : { expires_at: expires }),
          ...(scopes === null ? {} : { scopes: possible.filter((one) => scopes.includes(one)) }),
        };
        const { data } = await call<ApiToken & { token: string }>('POST', 'tokens', { body });
        onMade(data);
      }}
    >
      {({ errorOf }) => (
        <>
          <Field label={t('tokens.name')} error={errorOf('/name')} hint={t('tokens.name_hint')}>
            <input
              className="input"
              autoComplete="off"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          </Field>
          <Field label={t('users.role')} error={errorOf('/role')} hint={t('tokens.role_hint')}>
            <select className="input" value={role} onChange={(event) => setRole(event.target.value)}>
              {rolesUpTo(own, roles).map((one) => (
                <option key={one} value={one}>
                  {t(`role.${one}`)}
                </option>
              ))}
            </select>
          </Field>
          <Scopes possible={possible} chosen={scopes} onChange={setScopes} error={errorOf('/scopes')} />
          <Field label={t('tokens.expires')} error={lifetime === 'date' ? undefined : errorOf('/expires_at')}>
            <select
              className="input"
              value={lifetime}
              onChange={(event) => setLifetime(event.target.value as Lifetime)}
            >
              {LIFETIMES.map((one) => (
                <option key={one} value={one}>
                  {t(`lifetime.${one}`)}
                </option>
              ))}
            </select>
          </Field>
          {lifetime === 'date' && (
            <Field
              label={t('tokens.last_day')}
              error={errorOf('/expires_at')}
              hint={t('tokens.last_day_hint')}
            >
              <input
                className="input"
                type="date"
                value={date}
                onChange={(event) => setDate(event.target.value)}
              />
            </Field>
          )}
        </>
      )}
    </FormDialog>
  );
}

// `chosen` is null if the token gets all permissions of its role.
function Scopes(props: {
  possible: readonly string[];
  chosen: readonly string[] | null;
  onChange: (chosen: readonly string[] | null) => void;
  error?: string;
}) {
  const { t } = useTranslation();
  const { possible, chosen } = props;
  const none = chosen !== null && !possible.some((one) => chosen.includes(one));
  return (
    <fieldset className="grid gap-1.5">
      <legend className="mb-1 font-medium">{t('scopes.title')}</legend>
      <label className="flex items-start gap-2">
        <input
          type="checkbox"
          className="mt-0.5 size-4"
          checked={chosen !== null}
          disabled={possible.length === 0 && chosen === null}
          onChange={(event) => props.onChange(event.target.checked ? [] : null)}
        />
        <span>
          {t('scopes.some')}
          <span className="block text-xs text-muted">{t('scopes.some_hint')}</span>
        </span>
      </label>
      {chosen !== null && (
        <div className="grid gap-1 pl-6 sm:grid-cols-2">
          {possible.map((one) => (
            <label key={one} className="flex min-h-6 items-center gap-2">
              <input
                type="checkbox"
                className="size-4"
                checked={chosen.includes(one)}
                onChange={(event) =>
                  props.onChange(
                    event.target.checked ? [...chosen, one] : chosen.filter((other) => other !== one),
                  )
                }
              />
              <code className="mono">{one}</code>
            </label>
          ))}
        </div>
      )}
      {(props.error ?? (none ? t('scopes.none') : '')) && (
        <p
          role={props.error ? 'alert' : undefined}
          className={'text-xs ' + (props.error ? 'text-bad' : 'text-muted')}
        >
          {props.error ?? t('scopes.none')}
        </p>
      )}
    </fieldset>
  );
}

export function MadeTokenDialog({
  token,
  onClose,
}: {
  token: ApiToken & { token: string };
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const [copied, setCopied] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const copy = async () => {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(token.token);
      setCopied(true);
    } catch {
      // On plain http beyond loopback there is no clipboard. So the token is selected, and the user can copy
      // it by keyboard.
      toast(t('tokens.copy_by_hand'));
    }
  };
  return (
    <Modal
      open
      onClose={onClose}
      title={t('tokens.made', { name: token.name })}
      actions={
        <button type="button" className="button button-primary" onClick={onClose}>
          {t('tokens.noted')}
        </button>
      }
    >
      <p className="mb-3">{t('tokens.once')}</p>
      <div className="flex gap-2">
        <input
          ref={field}
          readOnly
          className="input mono"
          aria-label={t('auth.token')}
          value={token.token}
          onFocus={(event) => event.target.select()}
        />
        <button type="button" className="button" onClick={() => void copy()}>
          {copied ? <Check aria-hidden size={15} /> : <Copy aria-hidden size={15} />}
          {copied ? t('tokens.copied') : t('tokens.copy')}
        </button>
      </div>
    </Modal>
  );
}

export function RevokeTokenDialog({
  token,
  onClose,
  onDone,
}: {
  token: ApiToken;
  onClose: () => void;
  onDone: () => void;
}) {
  const { t } = useTranslation();
  return (
    <FormDialog
      title={t('tokens.revoke_title', { name: token.name })}
      save={t('tokens.revoke')}
      danger
      onClose={onClose}
      pointers={[]}
      onSave={async () => {
        await call<void>('DELETE', 'tokens/' + encodeURIComponent(token.token_id));
        toast(t('tokens.revoked', { name: token.name }));
        onDone();
      }}
    >
      {() => <p className="text-muted">{t('tokens.revoke_explain')}</p>}
    </FormDialog>
  );
}

// Dialogs that create, edit and delete a user, and set a new password.
import '../account/texts.en';
import './texts.en';
import { useState } from 'react';
import { call } from '../../api/client';
import type { Share, User } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { Field } from '../../ui/field';
import { toast } from '../../ui/toasts';
import { FormDialog } from '../../ui/dialogs/form_dialog';
import { ShareFields, type ShareFieldsProps } from './share_fields';
import { pointersOf, sameShares, sharesFrom } from './share_values';

export const ROLES = ['admin', 'user', 'read_only'] as const;

interface Props {
  onClose: () => void;
  onDone: () => void;
}
type OfUser = Props & { user: User };

const pathOf = (user: User) => 'users/' + encodeURIComponent(user.user_id);
const change = (user: User, body: object) =>
  call<User>('PATCH', pathOf(user), { body, ifMatch: `"v${user.version}"` });

function RoleSelect(props: { value: string; onChange: (role: string) => void; error?: string }) {
  const { t } = useTranslation();
  return (
    <Field label={t('users.role')} error={props.error} hint={t(`role_hint.${props.value}`)}>
      <select className="input" value={props.value} onChange={(event) => props.onChange(event.target.value)}>
        {ROLES.map((role) => (
          <option key={role} value={role}>
            {t(`role.${role}`)}
          </option>
        ))}
      </select>
    </Field>
  );
}

// Shares are offered for the role `user`. For other roles they are offered only if there are shares already:
// an administrator may access all jobs without shares, and for a reader shares have no effect.
function Shares({ role, ...fields }: ShareFieldsProps & { role: string }) {
  return role === 'user' || fields.rows.length > 0 ? <ShareFields {...fields} /> : null;
}

export function CreateUserDialog({ onClose, onDone }: Props) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const [shown, setShown] = useState('');
  const [role, setRole] = useState('user');
  const [password, setPassword] = useState('');
  const [rows, setRows] = useState<Share[]>([]);
  return (
    <FormDialog
      title={t('users.new')}
      save={t('users.create')}
      onClose={onClose}
      pointers={['/name', '/display_name', '/role', '/password', ...pointersOf(rows)]}
      onSave={async () => {
        const shares = sharesFrom(rows);
        setRows(shares); // the server's pointers count these
        await call<User>('POST', 'users', {
          body: {
            name: name.trim(),
            display_name: shown.trim(),
            role,
            password,
            ...(shares.length > 0 ? { shares } : {}),
          },
        });
        toast(t('users.created', { name: name.trim() }));
        onDone();
      }}
    >
      {({ errorOf }) => (
        <>
          <Field label={t('auth.name')} error={errorOf('/name')} hint={t('users.name_hint')}>
            <input
              className="input"
              autoComplete="off"
              spellCheck={false}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          </Field>
          <Field label={t('users.display_name')} error={errorOf('/display_name')}>
            <input
              className="input"
              autoComplete="off"
              value={shown}
              onChange={(event) => setShown(event.target.value)}
            />
          </Field>
          <RoleSelect value={role} onChange={setRole} error={errorOf('/role')} />
          <Field label={t('auth.password')} error={errorOf('/password')} hint={t('users.password_hint')}>
            <input
              className="input"
              type="password"
              autoComplete="new-password"
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
          </Field>
          <Shares role={role} rows={rows} errorOf={errorOf} onChange={setRows} />
        </>
      )}
    </FormDialog>
  );
}

export function EditUserDialog({ user, onClose, onDone }: OfUser) {
  const { t } = useTranslation();
  const [shown, setShown] = useState(user.display_name);
  const [role, setRole] = useState<string>(user.role);
  const [disabled, setDisabled] = useState(user.disabled);
  const before = user.shares ?? [];
  const [rows, setRows] = useState<Share[]>(before);
  return (
    <FormDialog
      title={t('users.edit_named', { name: user.name })}
      save={t('form.save')}
      onClose={onClose}
      pointers={['/display_name', '/role', ...pointersOf(rows)]}
      onSave={async () => {
        const shares = sharesFrom(rows);
        setRows(shares); // the server's pointers count these
        await change(user, {
          display_name: shown.trim(),
          role,
          disabled,
          ...(sameShares(shares, before) ? {} : { shares }),
        });
        toast(t('users.changed', { name: user.name }));
        onDone();
      }}
    >
      {({ errorOf }) => (
        <>
          <Field label={t('users.display_name')} error={errorOf('/display_name')}>
            <input
              className="input"
              autoComplete="off"
              value={shown}
              onChange={(event) => setShown(event.target.value)}
            />
          </Field>
          <RoleSelect value={role} onChange={setRole} error={errorOf('/role')} />
          <Shares role={role} rows={rows} errorOf={errorOf} onChange={setRows} />
          <label className="flex items-start gap-2">
            <input
              type="checkbox"
              className="mt-0.5 size-4"
              checked={disabled}
              onChange={(event) => setDisabled(event.target.checked)}
            />
            <span>
              {t('users.disabled')}
              <span className="block text-xs text-muted">{t('users.disabled_hint')}</span>
            </span>
          </label>
        </>
      )}
    </FormDialog>
  );
}

export function PasswordDialog({ user, onClose, onDone }: OfUser) {
  const { t } = useTranslation();
  const [password, setPassword] = useState('');
  return (
    <FormDialog
      title={t('users.password_of', { name: user.name })}
      save={t('users.set_password')}
      onClose={onClose}
      pointers={['/password']}
      onSave={async () => {
        await change(user, { password });
        toast(t('users.password_set', { name: user.name }));
        onDone();
      }}
    >
      {({ errorOf }) => (
        <Field
          label={t('account.new_password')}
          error={errorOf('/password')}
          hint={t('users.password_explain')}
        >
          <input
            className="input"
            type="password"
            autoComplete="new-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </Field>
      )}
    </FormDialog>
  );
}

export function DeleteUserDialog({ user, onClose, onDone }: OfUser) {
  const { t } = useTranslation();
  return (
    <FormDialog
      title={t('users.delete_title', { name: user.name })}
      save={t('jobs.delete')}
      danger
      onClose={onClose}
      pointers={[]}
      onSave={async () => {
        await call<void>('DELETE', pathOf(user), { ifMatch: `"v${user.version}"` });
        toast(t('users.deleted', { name: user.name }));
        onDone();
      }}
    >
      {() => <p className="text-muted">{t('users.delete_explain')}</p>}
    </FormDialog>
  );
}

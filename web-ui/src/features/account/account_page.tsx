// Page of the signed-in user: profile, password and preferences.
import './texts.en';
import '../users/texts.en';
import { useState, type FormEvent } from 'react';
import { changePassword, type SignInResult } from '../../auth/sign_in';
import { useSession, type Person } from '../../auth/session';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { LANGUAGES, THEMES, TIME_MODES, setPreferences, usePreferences } from '../../lib/preferences';
import { Field } from '../../ui/field';
import { toast } from '../../ui/toasts';
import { browserZone, isZone } from '../../lib/zones';
import { Card, Facts, PageHeader } from '../../ui/ui';
import { ZoneOptions } from '../../ui/zone_options';
import { useShareText } from '../users/share_text';

export function AccountPage() {
  const { t } = useTranslation();
  const session = useSession();
  const person = session.state === 'signed_in' ? session.person : null;
  const byPassword = session.state === 'signed_in' && session.by === 'password';
  return (
    <>
      <PageHeader title={t('account.title')} documentTitle={t('account.title')} />
      <div className="grid gap-4 lg:grid-cols-2">
        <Card title={t('account.who')}>
          {person ? <Who person={person} /> : <p className="text-muted">{t('account.unknown')}</p>}
        </Card>
        <Card title={t('account.password')}>
          {byPassword ? <PasswordForm /> : <p className="text-muted">{t('account.password_needs_user')}</p>}
        </Card>
        <Card title={t('account.display')} className="lg:col-span-2">
          <Display />
        </Card>
      </div>
    </>
  );
}

function Who({ person }: { person: Person }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const shareText = useShareText();
  const { shares } = person;
  return (
    <Facts
      items={[
        [t('auth.name'), person.display_name ? `${person.name} (${person.display_name})` : person.name],
        [t('account.by'), person.kind === 'token' ? t('auth.token') : t('auth.password')],
        [t('users.role'), textOr('role.', person.role)],
        ...(shares === undefined
          ? []
          : [
              [
                t('account.shared'),
                shares.length === 0 ? (
                  t('account.shared_none')
                ) : (
                  <ul key="s" className="wrap-anywhere">
                    {shares.map((share) => (
                      <li key={shareText(share)}>{shareText(share)}</li>
                    ))}
                  </ul>
                ),
              ] as const,
            ]),
        [
          t('account.permissions'),
          <ul key="p" className="mono">
            {person.permissions.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>,
        ],
      ]}
    />
  );
}

const passwordInput = (value: string, set: (text: string) => void, complete: string) => (
  <input
    className="input"
    type="password"
    required
    autoComplete={complete}
    value={value}
    onChange={(event) => set(event.target.value)}
  />
);

function PasswordForm() {
  const { t } = useTranslation();
  const [old, setOld] = useState('');
  const [next, setNext] = useState('');
  const [again, setAgain] = useState('');
  const [errors, setErrors] = useState<{ old?: string; next?: string; again?: string }>({});
  const [busy, setBusy] = useState(false);
  const show = (result: SignInResult) => {
    if (result.outcome === 'ok') {
      setOld('');
      setNext('');
      setAgain('');
      toast(t('account.password_changed'), t('account.password_others'));
    } else {
      const detail =
        result.outcome === 'unreachable' ? t('error.unreachable') : (result.detail ?? t('error.unknown'));
      setErrors(result.pointer === '/old_password' ? { old: detail } : { next: detail });
    }
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setErrors({});
    if (next !== again) return setErrors({ again: t('auth.password_differs') });
    setBusy(true);
    show(await changePassword(old, next));
    setBusy(false);
  };
  return (
    <form className="grid max-w-sm gap-3" onSubmit={(event) => void submit(event)}>
      <Field label={t('account.old_password')} error={errors.old}>
        {passwordInput(old, setOld, 'current-password')}
      </Field>
      <Field label={t('account.new_password')} error={errors.next} hint={t('users.password_hint')}>
        {passwordInput(next, setNext, 'new-password')}
      </Field>
      <Field label={t('auth.password_again')} error={errors.again}>
        {passwordInput(again, setAgain, 'new-password')}
      </Field>
      <div>
        <button type="submit" className="button button-primary" disabled={busy}>
          {t('account.change_password')}
        </button>
      </div>
    </form>
  );
}

function Display() {
  const { t } = useTranslation();
  const { theme, language, time, zone, shortcuts } = usePreferences();
  return (
    <>
      <p className="mb-3 text-muted">{t('account.display_hint')}</p>
      <div className="grid gap-x-6 gap-y-4 sm:grid-cols-2">
        <Field label={t('settings.language')}>
          <select
            className="input"
            value={language}
            onChange={(event) => setPreferences({ language: event.target.value as typeof language })}
          >
            {LANGUAGES.map((one) => (
              <option key={one} value={one}>
                {t(`language.${one}`)}
              </option>
            ))}
          </select>
        </Field>
        <Field label={t('settings.theme')}>
          <select
            className="input"
            value={theme}
            onChange={(event) => setPreferences({ theme: event.target.value as typeof theme })}
          >
            {THEMES.map((one) => (
              <option key={one} value={one}>
                {t(`theme.${one}`)}
              </option>
            ))}
          </select>
        </Field>
        <Field label={t('time.label')}>
          <select
            className="input"
            value={time}
            onChange={(event) => setPreferences({ time: event.target.value as typeof time })}
          >
            {TIME_MODES.map((one) => (
              <option key={one} value={one}>
                {t(`time.${one}`)}
              </option>
            ))}
          </select>
        </Field>
        <ZoneChoice zone={zone} />
        <label className="flex items-center gap-2 sm:col-span-2">
          <input
            type="checkbox"
            className="size-4"
            checked={shortcuts}
            onChange={(event) => setPreferences({ shortcuts: event.target.checked })}
          />
          {t('keys.single')}
        </label>
      </div>
    </>
  );
}

function ZoneChoice({ zone }: { zone: string }) {
  const { t } = useTranslation();
  const [text, setText] = useState(zone);
  const wrong = text.trim() !== '' && !isZone(text.trim());
  const onChange = (value: string) => {
    setText(value);
    if (value.trim() === '' || isZone(value.trim())) setPreferences({ zone: value.trim() });
  };
  return (
    <div>
      <Field
        label={t('account.zone')}
        error={wrong ? t('account.zone_unknown') : undefined}
        hint={t('account.zone_hint')}
      >
        <input
          className="input"
          list="account-zones"
          autoComplete="off"
          spellCheck={false}
          value={text}
          placeholder={browserZone()}
          onChange={(event) => onChange(event.target.value)}
        />
      </Field>
      <ZoneOptions id="account-zones" />
    </div>
  );
}

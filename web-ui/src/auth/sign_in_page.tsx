// Sign-in page, with one of three forms:
// - if it was opened by the one-time setup link: name and password of the first administrator;
// - if the server has no users, and as the default before its setup: an API token;
// - otherwise: name and password. If the server has users, a button switches between the last two.
import './texts.en';
import '../features/account/texts.en';
import { KeyRound, LogIn } from 'lucide-react';
import { useEffect, useId, useState, type FormEvent, type InputHTMLAttributes } from 'react';
import { useTranslation } from '../i18n/use_translation';
import { setUp, signInWithPassword, signInWithToken, type SignInResult } from './sign_in';
import type { Session } from './session';

const PASSWORD_MIN = 10; // characters; the server's limit

function setupToken(): string {
  const { pathname, hash } = window.location;
  return pathname.endsWith('/setup') ? (new URLSearchParams(hash.slice(1)).get('token') ?? '') : '';
}

export default function SignInPage({ session }: { session: Extract<Session, { state: 'signed_out' }> }) {
  const { t } = useTranslation();
  const [token] = useState(setupToken);
  const [chosen, setByToken] = useState<boolean | null>(null);
  // The form for a token is the default if the server has no users or has not been set up. No user
  // then has a password.
  const byToken = !session.users || (chosen ?? session.setupNeeded);
  const settingUp = session.users && token !== '';
  const title = settingUp ? t('auth.setup_title') : t('auth.title');
  useEffect(() => {
    document.title = title + ' · Carillon';
  }, [title]);
  return (
    <main className="grid min-h-dvh place-items-center px-4 py-8">
      <div className="card w-full max-w-sm p-6">
        <div className="mb-5 flex items-center gap-3">
          <img src="./icon.svg" alt="" width={36} height={36} />
          <div>
            <h1 className="text-lg">{title}</h1>
            <p className="text-muted">Carillon</p>
          </div>
        </div>
        {session.expired && (
          <p role="status" className="mb-4 rounded-md bg-warn-soft px-3 py-2 text-warn">
            {t('auth.expired')}
          </p>
        )}
        {settingUp ? <SetupForm token={token} /> : byToken ? <TokenForm /> : <PasswordForm />}
        {session.users && !settingUp && (
          <button
            type="button"
            className="button button-plain mt-3 w-full"
            onClick={() => setByToken(!byToken)}
          >
            {byToken ? t('auth.use_password') : t('auth.use_token')}
          </button>
        )}
        {session.setupNeeded && !settingUp && <p className="mt-4 text-muted">{t('auth.setup_hint')}</p>}
      </div>
    </main>
  );
}

function useEntry(enter: () => Promise<SignInResult>, refused: string) {
  const { t } = useTranslation();
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError('');
    const result = await enter();
    setBusy(false);
    if (result.outcome === 'refused') setError(result.detail ?? refused);
    else if (result.outcome === 'unreachable') setError(t('error.unreachable'));
    else if (result.outcome === 'unavailable') setError(t('auth.unavailable'));
  };
  return { error, setError, busy, onSubmit };
}

function Entry({
  label,
  error,
  hint,
  ...input
}: InputHTMLAttributes<HTMLInputElement> & { label: string; error?: string; hint?: string }) {
  const id = useId();
  return (
    <div className="mb-4 grid gap-1.5">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      <input
        id={id}
        className="input"
        required
        aria-invalid={error ? true : undefined}
        aria-describedby={id + '-more'}
        {...input}
      />
      <p id={id + '-more'} role={error ? 'alert' : undefined} className={error ? 'text-bad' : 'text-muted'}>
        {error || hint}
      </p>
    </div>
  );
}

function TokenForm() {
  const { t } = useTranslation();
  const [token, setToken] = useState('');
  const { error, busy, onSubmit } = useEntry(() => signInWithToken(token.trim()), t('auth.token_refused'));
  return (
    <form onSubmit={(event) => void onSubmit(event)}>
      <Entry
        label={t('auth.token')}
        type="password"
        autoComplete="off"
        value={token}
        error={error}
        hint={t('auth.token_hint')}
        onChange={(event) => setToken(event.target.value)}
      />
      <button type="submit" className="button button-primary w-full" disabled={busy}>
        <KeyRound aria-hidden size={15} />
        {t('auth.sign_in')}
      </button>
    </form>
  );
}

function PasswordForm() {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const { error, busy, onSubmit } = useEntry(
    () => signInWithPassword(name.trim(), password),
    t('auth.refused'),
  );
  return (
    <form onSubmit={(event) => void onSubmit(event)}>
      <Entry
        label={t('auth.name')}
        autoComplete="username"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Entry
        label={t('auth.password')}
        type="password"
        autoComplete="current-password"
        value={password}
        error={error}
        onChange={(event) => setPassword(event.target.value)}
      />
      <button type="submit" className="button button-primary w-full" disabled={busy}>
        <LogIn aria-hidden size={15} />
        {t('auth.sign_in')}
      </button>
    </form>
  );
}

function SetupForm({ token }: { token: string }) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const [short, setShort] = useState('');
  const { error, setError, busy, onSubmit } = useEntry(
    () => setUp(token, name.trim(), password),
    t('auth.setup_refused'),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setError('');
    const rule = password.length < PASSWORD_MIN ? t('auth.password_short', { count: PASSWORD_MIN }) : '';
    setShort(rule);
    if (rule) return;
    if (password !== again) setError(t('auth.password_differs'));
    else void onSubmit(event);
  };
  return (
    <form onSubmit={submit}>
      <p className="mb-4 text-muted">{t('auth.setup_explain')}</p>
      <Entry
        label={t('auth.name')}
        autoComplete="username"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Entry
        label={t('auth.password')}
        type="password"
        autoComplete="new-password"
        value={password}
        error={short}
        hint={t('auth.password_short', { count: PASSWORD_MIN })}
        onChange={(event) => setPassword(event.target.value)}
      />
      <Entry
        label={t('auth.password_again')}
        type="password"
        autoComplete="new-password"
        value={again}
        error={error}
        onChange={(event) => setAgain(event.target.value)}
      />
      <button type="submit" className="button button-primary w-full" disabled={busy}>
        <LogIn aria-hidden size={15} />
        {t('auth.setup')}
      </button>
    </form>
  );
}

// Theme, language, shortcuts, signing out: a panel at the foot of the rail.
import { Link } from '@tanstack/react-router';
import { Keyboard, LogOut, Settings, UserRound } from 'lucide-react';
import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { signOut, useSession } from '../auth/session';
import { LANGUAGES, THEMES, setPreferences, usePreferences } from '../shared/preferences';

export function SettingsMenu(props: { onHelp: () => void }) {
  const { t } = useTranslation();
  const session = useSession();
  const { theme, language } = usePreferences();
  const [open, setOpen] = useState(false);
  const id = useId();
  const name = session.state === 'signed_in' ? session.person?.name : undefined;
  return (
    <div>
      {open && (
        <div id={id} role="group" aria-label={t('settings.title')} className="mb-2 flex flex-col gap-3 rounded-md border p-3">
          <label className="grid gap-1 text-muted">
            {t('settings.theme')}
            <select className="input" value={theme}
              onChange={(event) => setPreferences({ theme: event.target.value as typeof theme })}>
              {THEMES.map((one) => <option key={one} value={one}>{t(`theme.${one}`)}</option>)}
            </select>
          </label>
          <label className="grid gap-1 text-muted">
            {t('settings.language')}
            <select className="input" value={language}
              onChange={(event) => setPreferences({ language: event.target.value as typeof language })}>
              {LANGUAGES.map((one) => <option key={one} value={one}>{t(`language.${one}`)}</option>)}
            </select>
          </label>
          <Link to="/account" className="button justify-start" onClick={() => setOpen(false)}>
            <UserRound aria-hidden size={15} />{t('account.title')}
          </Link>
          <button type="button" className="button justify-start" onClick={props.onHelp}>
            <Keyboard aria-hidden size={15} />{t('keys.title')}
          </button>
          <button type="button" className="button justify-start" onClick={() => void signOut()}>
            <LogOut aria-hidden size={15} />{t('auth.sign_out')}
          </button>
        </div>
      )}
      <button type="button" className="button button-plain w-full justify-start" aria-expanded={open} aria-controls={open ? id : undefined}
        aria-label={name ? t('settings.title') + ': ' + name : undefined} onClick={() => setOpen(!open)}>
        <Settings aria-hidden size={16} />
        <span className="truncate">{name ?? t('settings.title')}</span>
      </button>
    </div>
  );
}

// Panel with the settings at the foot of the navigation. Its code is loaded on the first click.
import '../../features/account/texts.en';
import { Link } from '@tanstack/react-router';
import { Keyboard, LogOut, UserRound } from 'lucide-react';
import { signOut } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { LANGUAGES, THEMES, setPreferences, usePreferences } from '../../lib/preferences';

export default function SettingsPanel({
  id,
  onHelp,
  onClose,
}: {
  id: string;
  onHelp: () => void;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const { theme, language } = usePreferences();
  return (
    <div
      id={id}
      role="group"
      aria-label={t('settings.title')}
      className="mb-2 flex flex-col gap-3 rounded-md border p-3"
    >
      <label className="grid gap-1 text-muted">
        {t('settings.theme')}
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
      </label>
      <label className="grid gap-1 text-muted">
        {t('settings.language')}
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
      </label>
      <Link to="/account" className="button justify-start" onClick={onClose}>
        <UserRound aria-hidden size={15} />
        {t('account.title')}
      </Link>
      <button type="button" className="button justify-start" onClick={onHelp}>
        <Keyboard aria-hidden size={15} />
        {t('keys.title')}
      </button>
      <button type="button" className="button justify-start" onClick={() => void signOut()}>
        <LogOut aria-hidden size={15} />
        {t('auth.sign_out')}
      </button>
    </div>
  );
}

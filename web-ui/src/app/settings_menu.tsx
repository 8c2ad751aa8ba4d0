// Theme, language, shortcuts, signing out.
import { Popover } from '@base-ui/react/popover';
import { Keyboard, LogOut, Settings } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { signOut, useSession } from '../auth/session';
import { LANGUAGES, THEMES, setPreferences, usePreferences } from '../shared/preferences';

export function SettingsMenu(props: { onHelp: () => void }) {
  const { t } = useTranslation();
  const session = useSession();
  const { theme, language } = usePreferences();
  const name = session.state === 'signed_in' ? session.person?.name : undefined;
  return (
    <Popover.Root>
      <Popover.Trigger className="button button-plain justify-start">
        <Settings aria-hidden size={16} />
        <span className="truncate">{name ?? t('settings.title')}</span>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner side="top" align="start" sideOffset={6} className="z-50">
          <Popover.Popup className="popup flex w-64 flex-col gap-3 p-3" aria-label={t('settings.title')}>
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
                {LANGUAGES.map((one) => <option key={one} value={one} lang={one}>{t(`language.${one}`)}</option>)}
              </select>
            </label>
            <Popover.Close className="button justify-start" onClick={props.onHelp}>
              <Keyboard aria-hidden size={15} />{t('keys.title')}
            </Popover.Close>
            <button type="button" className="button justify-start" onClick={() => void signOut()}>
              <LogOut aria-hidden size={15} />{t('auth.sign_out')}
            </button>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

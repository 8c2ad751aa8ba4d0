// Menu at the foot of the navigation: theme, language, shortcuts, sign out.
import { Settings } from 'lucide-react';
import { Suspense, lazy, useId, useState } from 'react';
import { useSession } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';

const SettingsPanel = lazy(() => import('./settings_panel'));

export function SettingsMenu(props: { onHelp: () => void }) {
  const { t } = useTranslation();
  const session = useSession();
  const [open, setOpen] = useState(false);
  const id = useId();
  const name = session.state === 'signed_in' ? session.person?.name : undefined;
  return (
    <div>
      {open && (
        <Suspense>
          <SettingsPanel id={id} onHelp={props.onHelp} onClose={() => setOpen(false)} />
        </Suspense>
      )}
      <button
        type="button"
        className="button button-plain w-full justify-start"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={name ? t('settings.title') + ': ' + name : undefined}
        onClick={() => setOpen(!open)}
      >
        <Settings aria-hidden size={16} />
        <span className="truncate">{name ?? t('settings.title')}</span>
      </button>
    </div>
  );
}

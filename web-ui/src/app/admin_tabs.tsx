// Tabs of the administration pages. Each tab is a link, so that users can open it in another browser tab.
import '../features/calendars/texts.en';
import '../features/dead_letters/texts.en';
import '../features/groups/texts.en';
import '../features/notices/texts.en';
import '../features/secrets/texts.en';
import '../features/tokens/texts.en';
import '../features/users/texts.en';
import { Link } from '@tanstack/react-router';
import { useTranslation } from '../i18n/use_translation';

const PAGES = [
  ['/admin/users', 'admin.users'],
  ['/admin/tokens', 'admin.tokens'],
  ['/admin/secrets', 'admin.secrets'],
  ['/groups', 'groups.title'],
  ['/calendars', 'calendars.title'],
  ['/admin/deliveries', 'admin.deliveries'],
  ['/admin/dead-letters', 'dead.title'],
  ['/admin/audit', 'nav.audit'],
] as const;

export function AdminTabs() {
  const { t } = useTranslation();
  return (
    <nav aria-label={t('nav.admin')} className="mb-4 flex flex-wrap gap-1 border-b">
      {PAGES.map(([to, label]) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ includeSearch: false }}
          className="-mb-px flex min-h-9 items-center border-b-2 px-3 no-underline"
          activeProps={{ className: 'border-accent text-accent font-medium' }}
          inactiveProps={{ className: 'border-transparent text-muted hover:text-ink' }}
        >
          {t(label)}
        </Link>
      ))}
    </nav>
  );
}

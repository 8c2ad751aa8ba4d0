// Tabs of the administration pages. Each tab is a link, so that users can open it in another browser tab.
import '../calendars/texts.en';
import '../dead_letters/texts.en';
import '../groups/texts.en';
import '../notices/texts.en';
import '../secrets/texts.en';
import '../tokens/texts.en';
import '../users/texts.en';
import { Link } from '@tanstack/react-router';
import { useTranslation } from '../../i18n/use_translation';

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

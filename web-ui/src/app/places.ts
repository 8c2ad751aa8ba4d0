// Entries of the navigation: the target of each, and the letter that opens it after "g".
import {
  Activity,
  CalendarClock,
  CalendarRange,
  LayoutDashboard,
  ListChecks,
  Server,
  Users,
  type LucideIcon,
} from 'lucide-react';

interface Place {
  to: '/' | '/jobs' | '/runs' | '/schedule' | '/executors' | '/system' | '/admin';
  key: string;
  label:
    'nav.overview' | 'nav.jobs' | 'nav.runs' | 'nav.schedule' | 'nav.executors' | 'nav.system' | 'nav.admin';
  icon: LucideIcon;
  tabs?: readonly string[]; // pages of the place whose paths do not begin with `to`
}

export const PLACES: readonly Place[] = [
  { to: '/', key: 'o', label: 'nav.overview', icon: LayoutDashboard },
  { to: '/jobs', key: 'j', label: 'nav.jobs', icon: CalendarClock, tabs: ['/workflows'] },
  { to: '/runs', key: 'r', label: 'nav.runs', icon: ListChecks },
  { to: '/schedule', key: 'c', label: 'nav.schedule', icon: CalendarRange },
  { to: '/executors', key: 'e', label: 'nav.executors', icon: Server },
  { to: '/system', key: 's', label: 'nav.system', icon: Activity },
  { to: '/admin', key: 'a', label: 'nav.admin', icon: Users, tabs: ['/groups', '/calendars'] },
];

// True if the page at `path` is one of the place's tabs.
export const hasTab = ({ tabs }: Pick<Place, 'tabs'>, path: string): boolean =>
  tabs?.some((tab) => path === tab || path.startsWith(tab + '/')) ?? false;

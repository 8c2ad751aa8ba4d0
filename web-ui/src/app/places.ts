// Entries of the navigation: the target of each, and the letter that opens it after "g".
import {
  Activity,
  CalendarClock,
  CalendarRange,
  LayoutDashboard,
  ListChecks,
  Server,
  Users,
} from 'lucide-react';

export const PLACES = [
  { to: '/', key: 'o', label: 'nav.overview', icon: LayoutDashboard },
  { to: '/jobs', key: 'j', label: 'nav.jobs', icon: CalendarClock },
  { to: '/runs', key: 'r', label: 'nav.runs', icon: ListChecks },
  { to: '/schedule', key: 'c', label: 'nav.schedule', icon: CalendarRange },
  { to: '/executors', key: 'e', label: 'nav.executors', icon: Server },
  { to: '/system', key: 's', label: 'nav.system', icon: Activity },
  { to: '/admin', key: 'a', label: 'nav.admin', icon: Users },
] as const;

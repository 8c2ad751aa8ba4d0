// Frame of every page: navigation, top bar, banners, palette, list of shortcuts.
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { Menu, Pause, Play, RefreshCw, Search } from 'lucide-react';
import { Suspense, lazy, useEffect, useMemo, useRef, useState } from 'react';
import { ChangeStream } from '../../api/changes';
import { queryClient } from '../../api/queries';
import { useTranslation } from '../../i18n/use_translation';
import { useLive } from '../../lib/poll_interval';
import { setPreferences, usePreferences } from '../../lib/preferences';
import { PageHeader } from '../../ui/ui';
import { whileSeen } from '../../lib/visible_tab';
import { Banners } from '../banners/banners';
import { PLACES, hasTab } from '../places';
import { SettingsMenu } from './settings_menu';
import { useShortcuts } from '../shortcuts';

const Palette = lazy(() => import('../palette/palette'));
const Help = lazy(() => import('./help'));

export function Shell() {
  const { t } = useTranslation();
  const [palette, setPalette] = useState(false);
  const [help, setHelp] = useState(false);
  const [menu, setMenu] = useState(false);
  const actions = useMemo(() => ({ palette: () => setPalette(true), help: () => setHelp(true) }), []);
  useShortcuts(actions);
  useChanges();
  const main = useFocusAfterNavigation(() => setMenu(false));
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[208px_minmax(0,1fr)]">
      <a
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
        className="button button-primary absolute -top-20 left-2 z-50 focus:top-2"
      >
        {t('skip')}
      </a>
      <div className="sticky top-0 z-30 flex flex-col border-b bg-surface md:h-dvh md:border-r md:border-b-0">
        <div className="flex h-13 items-center gap-2.5 px-4">
          <img src="./icon.svg" alt="" width={24} height={24} />
          <span className="flex-1 text-base font-semibold">Carillon</span>
          <button
            type="button"
            className="button button-icon md:hidden"
            aria-expanded={menu}
            aria-controls="rail"
            aria-label={t('nav.menu')}
            onClick={() => setMenu(!menu)}
          >
            <Menu aria-hidden size={17} />
          </button>
        </div>
        <Rail open={menu} onSearch={() => setPalette(true)} onHelp={() => setHelp(true)} />
      </div>
      <div className="min-w-0">
        <TopBar />
        <Banners />
        <main
          id="main"
          ref={main}
          tabIndex={-1}
          className="mx-auto max-w-[1400px] px-4 py-5 outline-none md:px-6"
        >
          <Outlet />
        </main>
      </div>
      <Suspense>{palette && <Palette onClose={() => setPalette(false)} />}</Suspense>
      <Suspense>{help && <Help onClose={() => setHelp(false)} />}</Suspense>
    </div>
  );
}

// A tab does not listen to changes while it is hidden or its updates are paused.
function useChanges() {
  const live = useLive();
  useEffect(() => (live ? whileSeen(new ChangeStream(queryClient)) : undefined), [live]);
}

// Moves the focus to the new page, so that the keyboard and screen readers continue there.
function useFocusAfterNavigation(onNavigate: () => void) {
  const main = useRef<HTMLElement>(null);
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname });
  const before = useRef(path);
  useEffect(() => {
    if (before.current !== undefined && before.current !== path) {
      main.current?.focus({ preventScroll: true });
      onNavigate();
    }
    before.current = path;
  }, [path, onNavigate]);
  return main;
}

const CURRENT = 'bg-accent-soft text-accent font-medium';

function Rail(props: { open: boolean; onSearch: () => void; onHelp: () => void }) {
  const { t } = useTranslation();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  return (
    <div id="rail" className={'flex-1 flex-col gap-1 p-2 md:flex ' + (props.open ? 'flex' : 'hidden')}>
      <button type="button" className="button mb-2 justify-start text-muted" onClick={props.onSearch}>
        <Search aria-hidden size={15} />
        <span className="flex-1 text-left">{t('palette.open')}</span>
        <kbd className="mono">Ctrl K</kbd>
      </button>
      <nav aria-label={t('nav.label')} className="flex flex-col gap-0.5">
        {PLACES.map((place) => (
          <Link
            key={place.to}
            to={place.to}
            activeOptions={{ exact: place.to === '/', includeSearch: false }}
            className="flex min-h-9 items-center gap-2.5 rounded-md px-3 no-underline"
            activeProps={{ className: CURRENT }}
            inactiveProps={
              hasTab(place, path)
                ? { className: CURRENT, 'aria-current': 'page' }
                : { className: 'text-muted hover:bg-raised hover:text-ink' }
            }
          >
            <place.icon aria-hidden size={17} />
            {t(place.label)}
          </Link>
        ))}
      </nav>
      <div className="flex-1" />
      <SettingsMenu onHelp={props.onHelp} />
    </div>
  );
}

function TopBar() {
  const { t } = useTranslation();
  const { live, time } = usePreferences();
  return (
    <div
      role="region"
      aria-label={t('top.label')}
      className="flex min-h-13 flex-wrap items-center justify-end gap-2 border-b bg-surface px-4 py-1.5 md:px-6"
    >
      <label className="flex items-center gap-2 text-muted">
        <span className="max-sm:sr-only">{t('time.label')}</span>
        <select
          className="input w-auto"
          value={time}
          onChange={(event) => setPreferences({ time: event.target.value as typeof time })}
        >
          <option value="relative">{t('time.relative')}</option>
          <option value="local">{t('time.local')}</option>
          <option value="utc">{t('time.utc')}</option>
          <option value="job">{t('time.job')}</option>
        </select>
      </label>
      <button
        type="button"
        className="button"
        aria-pressed={live}
        onClick={() => setPreferences({ live: !live })}
      >
        {live ? <Pause aria-hidden size={15} /> : <Play aria-hidden size={15} />}
        <span className="max-sm:sr-only">{live ? t('live.pause') : t('live.resume')}</span>
      </button>
      <button
        type="button"
        className="button button-icon"
        aria-label={t('live.now')}
        title={t('live.now')}
        onClick={() => void queryClient.refetchQueries({ type: 'active' })}
      >
        <RefreshCw aria-hidden size={15} />
      </button>
    </div>
  );
}

export function NotFound() {
  const { t } = useTranslation();
  return (
    <>
      <PageHeader
        title={t('notfound.title')}
        documentTitle={t('notfound.title')}
        under={t('notfound.hint')}
      />
      <Link to="/" className="button">
        {t('nav.overview')}
      </Link>
    </>
  );
}

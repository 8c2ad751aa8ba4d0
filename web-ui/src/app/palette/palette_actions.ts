// Actions of the palette: on the job whose page is open, on the cluster, and on the console's appearance.
import '../texts.en';
import '../../features/account/texts.en';
import '../../features/jobs/form/texts.en';
import '../../features/jobs/list/texts.en';
import '../../features/system/texts.en';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouterState, type RegisteredRouter } from '@tanstack/react-router';
import { CirclePause, CirclePlay, Languages, LogOut, Pause, Pencil, Play, SunMoon, Zap } from 'lucide-react';
import { call } from '../../api/client';
import { useStatus } from '../../api/queries';
import type { Job } from '../../api/types';
import { signOut, useDenied, useMay } from '../../auth/session';
import { jobPath, useRunNow, useSetEnabled } from '../../features/jobs/actions/job_actions';
import { useResumeCluster } from '../../features/system/pause_cluster';
import { useTranslation } from '../../i18n/use_translation';
import { LANGUAGES, THEMES, setPreferences, usePreferences } from '../../lib/preferences';
import type { Entry } from './palette_entries';

function openJob({ location, matches }: RegisteredRouter['state']): string | undefined {
  const params = matches.at(-1)?.params as { id?: string } | undefined;
  return /\/jobs\/[^/]+$/.test(location.pathname) ? params?.id : undefined;
}

export function useJobActions(): Entry[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const id = useRouterState({ select: openJob });
  const { data } = useQuery({
    queryKey: ['jobs', id],
    queryFn: ({ signal }) => call<Job>('GET', jobPath(id!), { signal }),
    enabled: id !== undefined,
  });
  const denied = useDenied();
  const runNow = useRunNow();
  const setEnabled = useSetEnabled();
  if (id === undefined || !data) return [];
  const job = data.data;
  const name = job.name;
  const paused = job.state === 'PAUSED';
  const why = (action: string) => {
    const reason = denied(job, action);
    return reason && t(reason);
  };
  return [
    {
      value: 'run',
      label: t('jobs.run_named', { name }),
      under: '',
      icon: Zap,
      denied: why('execute'),
      open: () => runNow.mutate(id),
    },
    paused
      ? {
          value: 'resume',
          label: t('palette.resume', { name }),
          under: '',
          icon: Play,
          denied: why('resume'),
          open: () => setEnabled.mutate({ id, enabled: true }),
        }
      : {
          value: 'pause',
          label: t('palette.pause', { name }),
          under: '',
          icon: Pause,
          denied: why('pause'),
          open: () => setEnabled.mutate({ id, enabled: false }),
        },
    {
      value: 'edit',
      label: t('jobs.edit_named', { name }),
      under: '',
      icon: Pencil,
      denied: why('edit'),
      open: () => void navigate({ to: '/jobs/$id/edit', params: { id } }),
    },
  ];
}

// The action "pause" opens the dialog of the system page, because this dialog explains the effects first.
export function useClusterActions(): Entry[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const status = useStatus();
  const may = useMay('config:write');
  const resume = useResumeCluster();
  if (!status.data) return [];
  const shared = { value: 'cluster', under: '', denied: may ? undefined : t('pause.denied') };
  return [
    status.data.paused
      ? { ...shared, label: t('pause.resume'), icon: CirclePlay, open: () => resume.mutate() }
      : {
          ...shared,
          label: t('pause.ask'),
          icon: CirclePause,
          open: () => void navigate({ to: '/system', search: { ask: 'pause' } }),
        },
  ];
}

export function useActions(): Entry[] {
  const { t } = useTranslation();
  const { theme, language, live } = usePreferences();
  return [
    ...THEMES.filter((one) => one !== theme).map((one): Entry => ({
      value: 'theme:' + one,
      label: `${t('settings.theme')}: ${t(`theme.${one}`)}`,
      under: '',
      icon: SunMoon,
      open: () => setPreferences({ theme: one }),
    })),
    // A language is also found by its name in that language, for users who cannot read the current one.
    ...LANGUAGES.filter((one) => one !== language).map((one): Entry => ({
      value: 'language:' + one,
      label: `${t('settings.language')}: ${t(`language.${one}`)}`,
      under: one,
      icon: Languages,
      words: one === 'en' ? 'language english' : 'language chinese \u4e2d\u6587 \u8bed\u8a00',
      open: () => setPreferences({ language: one }),
    })),
    {
      value: 'live',
      label: t(live ? 'live.pause' : 'live.resume'),
      under: '',
      icon: live ? Pause : Play,
      open: () => setPreferences({ live: !live }),
    },
    { value: 'sign out', label: t('auth.sign_out'), under: '', icon: LogOut, open: () => void signOut() },
  ];
}

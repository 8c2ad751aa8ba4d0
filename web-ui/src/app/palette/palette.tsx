// Command palette (Ctrl+K or Cmd+K). Finds pages, jobs, executors, a run by its id, and actions that are
// available everywhere.
import '../../features/calendars/texts.en';
import '../../features/dead_letters/texts.en';
import '../../features/executors/texts.en';
import '../../features/events/texts.en';
import '../../features/gaps/texts.en';
import '../../features/workflows/texts.en';
import '../../features/groups/texts.en';
import '../../features/notices/texts.en';
import '../../features/secrets/texts.en';
import '../../features/tokens/texts.en';
import '../../features/users/texts.en';
import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import {
  CalendarClock,
  CalendarDays,
  CalendarX2,
  Gauge,
  ListChecks,
  Plus,
  ScrollText,
  Server,
  UserRound,
  Workflow,
} from 'lucide-react';
import { useState } from 'react';
import { get } from '../../api/client';
import { readJobs } from '../../api/job_pages';
import { itemsOf, useExecutors } from '../../api/queries';
import type { Run } from '../../api/types';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { useActions, useClusterActions, useJobActions } from './palette_actions';
import { matches, runIdIn, type Entry } from './palette_entries';
import { PLACES } from '../places';

const JOBS_MAX = 20;

export default function Palette(props: { onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog.Root open onOpenChange={(open) => !open && props.onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop z-40" />
        <Dialog.Popup className="dialog popup z-50" aria-label={t('palette.title')}>
          <Search onDone={props.onClose} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function usePages(): Entry[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const page = (to: string, label: string, icon: Entry['icon'], under = ''): Entry => ({
    value: to,
    label,
    under,
    icon,
    open: () => void navigate({ to }),
  });
  return [
    ...PLACES.map((place) => page(place.to, t(place.label), place.icon, 'g ' + place.key)),
    page('/jobs/new', t('jobs.new'), Plus, 'n'),
    page('/bulk', t('bulk.title'), ListChecks),
    page('/workflows', t('workflows.title'), Workflow),
    page('/gaps', t('gaps.title'), CalendarX2),
    page('/events', t('events.title'), ScrollText),
    page('/groups', t('groups.title'), Gauge),
    page('/calendars', t('calendars.title'), CalendarDays),
    page('/admin/users', t('admin.users'), UserRound),
    page('/admin/tokens', t('admin.tokens'), UserRound),
    page('/admin/secrets', t('admin.secrets'), UserRound),
    page('/admin/deliveries', t('admin.deliveries'), ScrollText),
    page('/admin/dead-letters', t('dead.title'), ScrollText),
    page('/admin/audit', t('nav.audit'), ScrollText),
    page('/account', t('account.title'), UserRound),
  ];
}

function useFoundJobs(wanted: string): Entry[] {
  const navigate = useNavigate();
  const jobs = useQuery({
    queryKey: ['palette', wanted],
    queryFn: ({ signal }) => readJobs({ q: wanted, page_size: JOBS_MAX }, signal),
    placeholderData: (before) => before,
  });
  const found = (jobs.data?.items ?? []).map((job): Entry => ({
    value: 'job:' + job.job_id,
    label: job.name,
    under: job.job_id,
    icon: CalendarClock,
    open: () => void navigate({ to: '/jobs/$id', params: { id: job.job_id } }),
  }));
  // Until the response arrives, the jobs are those found for the previous text. Only those that also match
  // the new text are shown, so that Enter does not open a job that does not match.
  return jobs.isPlaceholderData ? found.filter((entry) => matches(entry, wanted)) : found;
}

// Finds a run by its id. The id may be pasted with text around it.
function useFoundRun(text: string): Entry[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const textOr = useTextOr();
  const id = runIdIn(text);
  const { data: run } = useQuery({
    queryKey: ['palette', 'run', id],
    queryFn: ({ signal }) => get<Run>('runs/' + id, {}, signal),
    enabled: id !== undefined,
  });
  if (id === undefined || run?.run_id !== id) return [];
  return [
    {
      value: 'run:' + id,
      label: t('run.title', { name: run.job_name || run.job_id }),
      under: textOr('state.', run.state),
      icon: ListChecks,
      open: () => void navigate({ to: '/runs/$id', params: { id } }),
    },
  ];
}

function useFoundExecutors(): Entry[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  return itemsOf(useExecutors().data).map((one) => ({
    value: 'executor:' + one.executor_id,
    label: one.executor_id,
    under: t('executors.name'),
    icon: Server,
    words: one.host,
    open: () => void navigate({ to: '/executors/$id', params: { id: one.executor_id } }),
  }));
}

function Search(props: { onDone: () => void }) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const fit = (entry: Entry) => matches(entry, wanted);
  const run = useFoundRun(text);
  const pages = usePages().filter(fit);
  const jobs = useFoundJobs(wanted);
  const executors = useFoundExecutors().filter(fit);
  // Actions come last. So typing a name and Enter opens something, and never runs or pauses anything.
  const actions = [...useJobActions(), ...useClusterActions(), ...useActions()].filter(fit);
  return (
    <Autocomplete.Root
      open
      inline
      items={[...run, ...pages, ...jobs, ...executors, ...actions]}
      mode="none"
      value={text}
      autoHighlight="always"
      itemToStringValue={(entry: Entry) => entry.label}
      onValueChange={(value, details) => {
        if (details.reason !== 'item-press') setText(value);
      }}
    >
      <Autocomplete.Input
        aria-label={t('palette.title')}
        placeholder={t('palette.hint')}
        className="w-full border-b bg-transparent px-4 py-3 text-base outline-none"
      />
      <Autocomplete.Empty className="empty:hidden p-6 text-center text-muted">
        {t('empty.match')}
      </Autocomplete.Empty>
      <Autocomplete.List className="max-h-[50dvh] overflow-auto p-1.5">
        {(entry: Entry) => (
          <Autocomplete.Item
            key={entry.value}
            value={entry}
            className="menu-item"
            disabled={entry.denied !== undefined}
            title={entry.denied}
            onClick={() => {
              props.onDone();
              entry.open();
            }}
          >
            <entry.icon aria-hidden size={16} className="shrink-0 text-muted" />
            <span className="min-w-0 flex-1 truncate">{entry.label}</span>
            <span className="mono text-muted">{entry.denied ?? entry.under}</span>
          </Autocomplete.Item>
        )}
      </Autocomplete.List>
    </Autocomplete.Root>
  );
}

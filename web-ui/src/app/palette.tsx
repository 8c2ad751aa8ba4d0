// Ctrl or Cmd with K: pages, actions and jobs by name.
import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useQuery } from '@tanstack/react-query';
import { CalendarClock, Plus, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { get } from '../api/client';
import type { Job, Page } from '../api/types';
import { PLACES } from './places';
import { router } from './router';

interface Entry {
  value: string;
  label: string;
  under: string;
  icon: LucideIcon;
  open: () => void;
}

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

function Search(props: { onDone: () => void }) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const jobs = useQuery({
    queryKey: ['palette', wanted],
    queryFn: ({ signal }) => get<Page<Job>>('jobs', { q: wanted, page_size: JOBS_MAX }, signal),
    placeholderData: (before) => before,
  });
  const entries: Entry[] = [
    ...PLACES.map((place) => ({
      value: place.to, label: t(place.label), under: 'g ' + place.key, icon: place.icon as LucideIcon,
      open: () => void router.navigate({ to: place.to }),
    })),
    { value: 'new', label: t('jobs.new'), under: 'n', icon: Plus,
      open: () => void router.navigate({ to: '/jobs/new' }) },
  ].filter((entry) => entry.label.toLowerCase().includes(wanted));
  for (const job of jobs.data?.items ?? []) {
    entries.push({
      value: 'job:' + job.job_id, label: job.name, under: job.job_id, icon: CalendarClock,
      open: () => void router.navigate({ to: '/jobs/$id', params: { id: job.job_id } }),
    });
  }
  return (
    <Autocomplete.Root open inline items={entries} mode="none" value={text} autoHighlight="always"
      itemToStringValue={(entry: Entry) => entry.label}
      onValueChange={(value, details) => {
        if (details.reason !== 'item-press') setText(value);
      }}>
      <Autocomplete.Input aria-label={t('palette.title')} placeholder={t('palette.hint')}
        className="w-full border-b bg-transparent px-4 py-3 text-base outline-none" />
      <Autocomplete.Empty className="empty:hidden p-6 text-center text-muted">{t('empty.match')}</Autocomplete.Empty>
      <Autocomplete.List className="max-h-[50dvh] overflow-auto p-1.5">
        {(entry: Entry) => (
          <Autocomplete.Item key={entry.value} value={entry} className="menu-item"
            onClick={() => {
              props.onDone();
              entry.open();
            }}>
            <entry.icon aria-hidden size={16} className="shrink-0 text-muted" />
            <span className="min-w-0 flex-1 truncate">{entry.label}</span>
            <span className="mono text-muted">{entry.under}</span>
          </Autocomplete.Item>
        )}
      </Autocomplete.List>
    </Autocomplete.Root>
  );
}

// Page of the calendars, and the form of a new one. Everybody sees them; administrators change them.
import './texts.en';
import '../executors/texts.en';
import { Link, getRouteApi, useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useCalendars } from '../../api/groups';
import type { Calendar } from '../../api/types';
import { AdminTabs } from '../admin/admin_tabs';
import { useMay } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { DataTable, type Column } from '../../ui/data_table';
import { Time } from '../../ui/time';
import { ListCard } from '../../ui/list_card';
import { EmptyYet, PageHeader } from '../../ui/ui';
import { CalendarEditor } from './calendar_editor';

const route = getRouteApi('/calendars');

export function CalendarsPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = useNavigate();
  const may = useMay('config:write');
  const calendars = useCalendars();
  const items = calendars.data?.items ?? [];
  if (search.new)
    return (
      <>
        <PageHeader
          title={t('calendars.new')}
          documentTitle={t('calendars.new')}
          actions={
            <Link to="/calendars" className="button">
              {t('cancel')}
            </Link>
          }
        />
        <CalendarEditor
          taken={items.map((one) => one.name)}
          onSaved={({ name }) => void navigate({ to: '/calendars/$name', params: { name } })}
        />
      </>
    );
  return (
    <>
      <PageHeader
        title={t('calendars.title')}
        documentTitle={t('calendars.title')}
        under={t('calendars.under')}
        actions={
          <Link
            to="/calendars"
            search={{ new: 'yes' }}
            className="button button-primary"
            disabled={!may}
            title={may ? undefined : t('denied.admin')}
          >
            <Plus aria-hidden size={16} />
            {t('calendars.new')}
          </Link>
        }
      />
      <AdminTabs />
      <ListCard
        query={calendars}
        empty={
          <EmptyYet
            title={t('calendars.none')}
            hint={t('calendars.none_hint')}
            command="carillon calendar set workdays -f workdays.yaml"
          />
        }
      >
        {items.length > 0 && <CalendarsTable calendars={items} />}
      </ListCard>
    </>
  );
}

function Days({ calendar }: { calendar: Calendar }) {
  const { t } = useTranslation();
  if (calendar.definition === null) return t('calendars.unknown');
  const { weekdays = [], dates = [], except = [] } = calendar.definition;
  const parts = [
    ...(weekdays.length > 0 ? [weekdays.map((day) => t(`calendars.weekday.${day}`)).join(' ')] : []),
    ...(dates.length > 0 ? [t('calendars.dates_count', { count: dates.length })] : []),
  ];
  return [
    ...(parts.length > 0 ? parts : [t('calendars.every_day')]),
    ...(except.length > 0 ? [t('calendars.except_count', { count: except.length })] : []),
  ].join(', ');
}

function CalendarsTable({ calendars }: { calendars: Calendar[] }) {
  const { t } = useTranslation();
  const columns: Column<Calendar>[] = [
    {
      id: 'name',
      header: t('auth.name'),
      cell: (calendar) => (
        <Link to="/calendars/$name" params={{ name: calendar.name }} className="link mono font-medium">
          {calendar.name}
        </Link>
      ),
    },
    { id: 'zone', header: t('calendars.zone'), cell: (calendar) => calendar.definition?.time_zone ?? '–' },
    { id: 'days', header: t('calendars.days'), cell: (calendar) => <Days calendar={calendar} /> },
    {
      id: 'intervals',
      header: t('calendars.intervals'),
      cell: ({ definition }) =>
        definition === null
          ? '–'
          : definition.intervals?.length
            ? definition.intervals.join(', ')
            : t('calendars.whole_day'),
    },
    { id: 'jobs', header: t('calendars.jobs'), cell: (calendar) => calendar.jobs },
    {
      id: 'effective',
      header: t('calendars.effective'),
      cell: (calendar) => <Time at={calendar.effective_time} zone={calendar.definition?.time_zone} />,
    },
  ];
  return (
    <DataTable
      label={t('calendars.title')}
      columns={columns}
      rows={calendars}
      rowId={(calendar) => calendar.name}
    />
  );
}

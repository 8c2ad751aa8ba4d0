// Page of one calendar: its form with a preview, and since when it is effective.
import './texts.en';
import '../executors/texts.en';
import { useQueryClient } from '@tanstack/react-query';
import { Link, getRouteApi, useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../api/client';
import { useCalendar } from '../../api/groups';
import type { Calendar, CalendarDefinition } from '../../api/types';
import { useMay } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { useNow } from '../../lib/clock';
import { absoluteTime } from '../../lib/format';
import { FormDialog } from '../../ui/dialogs/form_dialog';
import { toast } from '../../ui/toasts';
import { LoadFailure, Loading, PageHeader } from '../../ui/ui';
import { CalendarEditor } from './calendar_editor';
import { calendarPath, lastDaySoon } from './calendar_values';

const route = getRouteApi('/calendars/$name');

export function CalendarPage() {
  const { t } = useTranslation();
  const { name } = route.useParams();
  const calendar = useCalendar(name);
  if (calendar.isPending) return <Loading />;
  if (!calendar.data)
    return (
      <LoadFailure
        error={calendar.error}
        onRetry={() => void calendar.refetch()}
        back={
          <Link to="/calendars" className="button">
            {t('calendars.title')}
          </Link>
        }
      />
    );
  const { definition, effective_time, version, jobs } = calendar.data;
  const zone = definition?.time_zone ?? 'UTC';
  return (
    <>
      <PageHeader
        documentTitle={name}
        title={name}
        under={
          <>
            {t('calendars.version')} {version} · {t('calendars.named_by', { count: jobs })}
          </>
        }
        actions={<Actions calendar={calendar.data} />}
      />
      <p role="status" className="mb-4 rounded-md bg-idle-soft px-4 py-2.5 text-idle">
        {t('calendars.effective_from', {
          at: `${absoluteTime(Date.parse(effective_time), zone)} (${zone})`,
        })}
      </p>
      {definition !== null && <Ends definition={definition} />}
      {definition === null ? (
        <p>{t('calendars.unknown')}</p>
      ) : (
        <CalendarEditor key={name} name={name} definition={definition} />
      )}
    </>
  );
}

// Tells that the listed days end, because holidays after them are not known.
function Ends({ definition }: { definition: CalendarDefinition }) {
  const { t } = useTranslation();
  const day = lastDaySoon(definition, useNow());
  if (day === null) return null;
  return <p className="mb-4 rounded-md bg-warn-soft px-4 py-2.5 text-warn">{t('calendars.ends', { day })}</p>;
}

function Actions({ calendar }: { calendar: Calendar }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const navigate = useNavigate();
  const may = useMay('config:write');
  const [asks, setAsks] = useState(false);
  return (
    <>
      <Link to="/calendars" className="button">
        {t('calendars.title')}
      </Link>
      <button
        type="button"
        className="button button-danger"
        disabled={!may}
        title={may ? undefined : t('denied.admin')}
        onClick={() => setAsks(true)}
      >
        <Trash2 aria-hidden size={15} />
        {t('jobs.delete')}
      </button>
      {asks && (
        <FormDialog
          title={t('calendars.delete_title', { name: calendar.name })}
          save={t('jobs.delete')}
          danger
          onClose={() => setAsks(false)}
          pointers={[]}
          onSave={async () => {
            await call<void>('DELETE', calendarPath(calendar.name));
            toast(t('calendars.deleted', { name: calendar.name }));
            await navigate({ to: '/calendars' });
            client.removeQueries({ queryKey: ['calendars', calendar.name] });
            void client.invalidateQueries({ queryKey: ['calendars'] });
          }}
        >
          {() => <p className="text-muted">{t('calendars.delete_explain')}</p>}
        </FormDialog>
      )}
    </>
  );
}

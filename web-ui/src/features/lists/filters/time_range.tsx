// Fields for a time range. The times are in the time zone in which the console shows local times.
import '../../runs/list/texts.en';
import { CalendarRange } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from '../../../i18n/use_translation';
import { usePreferences } from '../../../lib/preferences';
import { browserZone, instantIn, localIn } from '../../../lib/zones';
import { DropdownPanel } from '../dropdown_panel';
import { Field } from '../../../ui/field';
import { rangeOf } from './range_values';

interface Range {
  since: string | undefined;
  until: string | undefined;
}

export function TimeRange({ since, until, onChange }: Range & { onChange: (range: Range) => void }) {
  const { t } = useTranslation();
  const { zone: own } = usePreferences();
  // The first use of time zones is slow. So it waits until there is a time to show.
  const shown = (at: string | undefined) =>
    at === undefined || Number.isNaN(Date.parse(at)) ? '' : localIn(own || browserZone(), Date.parse(at));
  const label =
    until === undefined ? t('range.title') : t('range.until', { at: shown(until).replace('T', ' ') });
  return (
    <DropdownPanel label={label} title={t('range.title')} icon={CalendarRange}>
      <Form key={`${since} ${until}`} from={shown(since)} to={shown(until)} onChange={onChange} />
    </DropdownPanel>
  );
}

function Form(props: { from: string; to: string; onChange: (range: Range) => void }) {
  const { t } = useTranslation();
  const { zone: own } = usePreferences();
  const zone = own || browserZone();
  const [from, setFrom] = useState(props.from);
  const [to, setTo] = useState(props.to);
  const range = rangeOf(from, to, (local) => instantIn(zone, local));
  return (
    <form
      className="grid gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (range) props.onChange(range);
      }}
    >
      <Field label={t('range.from')}>
        <input
          type="datetime-local"
          className="input"
          value={from}
          onChange={(event) => setFrom(event.target.value)}
        />
      </Field>
      <Field
        label={t('range.to')}
        hint={t('range.zone', { zone })}
        error={range ? undefined : t('range.wrong')}
      >
        <input
          type="datetime-local"
          className="input"
          value={to}
          onChange={(event) => setTo(event.target.value)}
        />
      </Field>
      <div className="flex gap-2">
        <button type="submit" className="button button-primary" disabled={range === null}>
          {t('range.apply')}
        </button>
        <button
          type="button"
          className="button"
          onClick={() => props.onChange({ since: undefined, until: undefined })}
        >
          {t('runs.any_time')}
        </button>
      </div>
    </form>
  );
}

// Panel that chooses the visible columns.
import './texts.en';
import { Columns3 } from 'lucide-react';
import { useTranslation } from '../../i18n/use_translation';
import { choice, type Columns } from './columns';
import { DropdownPanel } from './dropdown_panel';

export function ColumnsPanel({ columns, always }: { columns: Columns; always: string }) {
  const { t } = useTranslation();
  const { all, chosen } = columns;
  return (
    <DropdownPanel label={t('columns.title')} title={t('columns.title')} icon={Columns3}>
      <ul className="grid gap-1">
        <li>
          <Choice label={always} on disabled />
        </li>
        {all.map((one) => (
          <li key={one.id}>
            <Choice
              label={one.label}
              on={columns.isShown(one.id)}
              onChange={(on) => columns.choose(choice(all, chosen, one.id, on))}
            />
          </li>
        ))}
      </ul>
      <button type="button" className="button" onClick={() => columns.choose({})}>
        {t('columns.usual')}
      </button>
    </DropdownPanel>
  );
}

function Choice(props: { label: string; on: boolean; disabled?: boolean; onChange?: (on: boolean) => void }) {
  return (
    <label className="flex min-h-7 items-center gap-2">
      <input
        type="checkbox"
        className="size-4"
        checked={props.on}
        disabled={props.disabled}
        onChange={(event) => props.onChange?.(event.target.checked)}
      />
      {props.label}
    </label>
  );
}

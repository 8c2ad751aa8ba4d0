// Bar above a list of jobs or runs, and the checkboxes of its rows.
import './texts.en';
import { Suspense, useState } from 'react';
import { useTranslation } from '../../i18n/use_translation';
import type { Column } from '../../ui/data_table';
import { early } from '../../lib/preload';
import type { Row } from '../bulk/bulk';
import type { List } from './list';
import { NOTHING, isTicked, tick } from '../bulk/selection';

const ListTools = early(() => import('./list_tools'));

// Adds a selection to a list. A change of the filter clears the selection.
export function useSelectable(list: Omit<List, 'selection' | 'onSelect'>): List {
  const filter = JSON.stringify(list.search);
  const [of, setOf] = useState(filter);
  const [selection, onSelect] = useState(NOTHING);
  if (of !== filter) {
    setOf(filter);
    onSelect(NOTHING);
  }
  return { ...list, selection: of === filter ? selection : NOTHING, onSelect };
}

// `always` is the column that users cannot hide.
export function ListBar(props: { list: List; always: string }) {
  return (
    <div className="relative mb-2 flex min-h-9 flex-wrap items-center gap-2">
      <Suspense>
        <ListTools {...props} />
      </Suspense>
    </div>
  );
}

export type Selectable = Pick<List, 'rows' | 'selection' | 'onSelect'>;

export function useTickColumn<T>(list: Selectable, rowOf: (one: T) => Row): Column<T> {
  const { t } = useTranslation();
  return {
    id: 'select',
    header: <span className="sr-only">{t('lists.select_header')}</span>,
    cell: (one) => <Tick list={list} row={rowOf(one)} />,
  };
}

function Tick({ list, row }: { list: Selectable; row: Row }) {
  const { t } = useTranslation();
  return (
    <label className="flex size-6 items-center justify-center">
      <input
        type="checkbox"
        className="size-4"
        aria-label={t('lists.select', { name: row.name })}
        checked={isTicked(list.selection, row.id)}
        onMouseDown={(event) => event.shiftKey && event.preventDefault()}
        onChange={(event) =>
          list.onSelect(
            tick(
              list.selection,
              row.id,
              list.rows.map((one) => one.id),
              (event.nativeEvent as MouseEvent).shiftKey,
            ),
          )
        }
      />
    </label>
  );
}

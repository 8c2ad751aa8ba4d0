// A table. On a phone its rows are shown as cards.
import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import type { CSSProperties, ReactNode } from 'react';
import { TableFrame } from './ui';

export interface Column<T> {
  id: string; // "name" and "actions" have fixed places on a card
  header: ReactNode;
  cell: (row: T) => ReactNode;
  sort?: string; // name of the column in the API's parameter `sort`
  width?: number; // px, if the table has `fits`; columns without a width share the remaining width
}

// The order of the rows, as in the API: `name`, or `-name` for descending. `usual` is the order if there is
// no parameter.
export interface Sorting {
  by: string | undefined;
  usual?: string;
  onSort: (by: string | undefined) => void;
}

// Returns the order after a click on a header. The order changes from ascending to descending, then to none.
// If there is a usual order, it changes from descending to ascending.
export function nextSort({ by, usual }: Sorting, name: string): string | undefined {
  const now = by ?? usual;
  const next = now === name ? '-' + name : now === '-' + name && !usual ? undefined : name;
  return next === usual ? undefined : next;
}

function SortButton({ sorting, name, children }: { sorting: Sorting; name: string; children: ReactNode }) {
  const now = sorting.by ?? sorting.usual;
  const Icon = now === name ? ArrowUp : now === '-' + name ? ArrowDown : ChevronsUpDown;
  return (
    <button type="button" className="sort-button" onClick={() => sorting.onSort(nextSort(sorting, name))}>
      {children}
      <Icon aria-hidden size={13} />
    </button>
  );
}

function Header<T>({ column, sorting }: { column: Column<T>; sorting: Sorting | undefined }) {
  const { header, sort } = column;
  const style = column.width === undefined ? undefined : { width: column.width };
  if (!sorting || !sort)
    return (
      <th scope="col" style={style}>
        {header}
      </th>
    );
  const now = sorting.by ?? sorting.usual;
  return (
    <th
      scope="col"
      style={style}
      aria-sort={now === sort ? 'ascending' : now === '-' + sort ? 'descending' : undefined}
    >
      <SortButton sorting={sorting} name={sort}>
        {header}
      </SortButton>
    </th>
  );
}

const REST_MIN_PX = 140; // least width of a column that has no width of its own

// `fits`: the table is as wide as the page, and cells are truncated. If this leaves too little width for a
// column, the table scrolls.
export function DataTable<T>(props: {
  label: string;
  fits?: boolean;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowId: (row: T) => string;
  sorting?: Sorting;
}) {
  const least = props.columns.reduce((sum, one) => sum + (one.width ?? REST_MIN_PX), 0);
  return (
    <TableFrame label={props.label}>
      <table
        className={'table cards' + (props.fits ? ' fits' : '')}
        style={props.fits ? ({ '--least': least + 'px' } as CSSProperties) : undefined}
      >
        <thead>
          <tr>
            {props.columns.map((column) => (
              <Header key={column.id} column={column} sorting={props.sorting} />
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row) => (
            <tr key={props.rowId(row)} data-row={props.rowId(row)}>
              {props.columns.map((column) => (
                <td key={column.id} data-column={column.id}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </TableFrame>
  );
}

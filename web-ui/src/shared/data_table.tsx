// Rows as a table, and as cards on a phone.
import type { ReactNode } from 'react';
import { TableFrame } from './ui';

export interface Column<T> {
  id: string; // "name" and "actions" have places of their own on a card
  header: ReactNode;
  cell: (row: T) => ReactNode;
}

export function DataTable<T>(props: { label: string; columns: readonly Column<T>[]; rows: readonly T[]; rowId: (row: T) => string }) {
  return (
    <TableFrame label={props.label}>
      <table className="table cards">
        <thead>
          <tr>{props.columns.map((column) => <th key={column.id} scope="col">{column.header}</th>)}</tr>
        </thead>
        <tbody>
          {props.rows.map((row) => (
            <tr key={props.rowId(row)} data-row={props.rowId(row)}>
              {props.columns.map((column) => <td key={column.id} data-column={column.id}>{column.cell(row)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </TableFrame>
  );
}

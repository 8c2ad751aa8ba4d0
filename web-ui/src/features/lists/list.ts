// A list of jobs or runs: its rows, filter and selection.
import type { ListKind, Row, Search } from '../bulk/bulk';
import type { Columns } from './columns';
import type { Selection } from '../bulk/selection';

export interface List {
  kind: ListKind;
  search: Search; // the filter, as in the URL
  rows: readonly Row[]; // the loaded rows
  hasMore: boolean;
  total: { n: number; more: boolean } | null; // null: the server sent no total
  columns: Columns;
  selection: Selection;
  onSelect: (next: Selection) => void;
}

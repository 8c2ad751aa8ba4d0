// A list of jobs or runs: its rows, its filter, and what is selected in it.
import type { ListKind, Row, Search } from '../bulk/bulk';
import type { Columns } from './columns';
import type { Selection } from './selection';

export interface List {
  kind: ListKind;
  search: Search; // the filter in the URL
  rows: readonly Row[]; // those that are loaded
  hasMore: boolean;
  total: { n: number; more: boolean } | null; // null: the server does not say
  columns: Columns;
  selection: Selection;
  onSelect: (next: Selection) => void;
}

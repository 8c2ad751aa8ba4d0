// Selection of rows in a list. Pure.
export interface Selection {
  ids: ReadonlySet<string>;
  anchor: string | null; // the row that was ticked last; a range begins there
  // If everything that matches the filter is selected: the number of these rows. `ids` then has the
  // loaded rows.
  all: number | null;
  more: boolean; // only if `all` is set: more rows match than one action can take
}

export const NOTHING: Selection = { ids: new Set(), anchor: null, all: null, more: false };

const of = (ids: Iterable<string>, anchor: string | null = null): Selection => ({
  ...NOTHING,
  ids: new Set(ids),
  anchor,
});

export const countOf = (selection: Selection) => selection.all ?? selection.ids.size;

// Ticks or unticks one row. With `range`, all rows from the row that was ticked last to this row get
// the same state.
export function tick(selection: Selection, id: string, rows: readonly string[], range: boolean): Selection {
  const from = range && selection.anchor !== null ? rows.indexOf(selection.anchor) : -1;
  const to = rows.indexOf(id);
  const meant = from < 0 || to < 0 ? [id] : rows.slice(Math.min(from, to), Math.max(from, to) + 1);
  const ids = new Set(selection.all === null ? selection.ids : rows);
  const on = !ids.has(id);
  for (const one of meant) {
    if (on) ids.add(one);
    else ids.delete(one);
  }
  return of(ids, id);
}

export const areAllTicked = (selection: Selection, rows: readonly string[]) =>
  rows.length > 0 && rows.every((id) => selection.ids.has(id));

// Ticks all loaded rows. If all loaded rows were ticked, unticks them.
export function tickShown(selection: Selection, rows: readonly string[]): Selection {
  const ids = new Set(selection.ids);
  const on = !areAllTicked(selection, rows);
  for (const id of rows) {
    if (on) ids.add(id);
    else ids.delete(id);
  }
  return of(ids);
}

export const everything = (rows: readonly string[], count: number, more: boolean): Selection => ({
  ids: new Set(rows),
  anchor: null,
  all: count,
  more,
});

// Selects only the failed rows, so that the action can be repeated.
export const only = (ids: readonly string[]): Selection => of(ids);

// True if the row is selected. If everything that matches is selected, rows that are loaded later are
// selected too.
export const isTicked = (selection: Selection, id: string) => selection.all !== null || selection.ids.has(id);

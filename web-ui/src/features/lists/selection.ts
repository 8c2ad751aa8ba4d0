// Selection of rows in a list. Pure.
export interface Selection {
  ids: ReadonlySet<string>;
  anchor: string | null; // where a range begins: the row that was ticked last
  all: number | null; // everything that matches the filter, this many; ids are then those of them in sight
  more: boolean; // of all: more match than can be acted on at once
}

export const NOTHING: Selection = { ids: new Set(), anchor: null, all: null, more: false };

const of = (ids: Iterable<string>, anchor: string | null = null): Selection => ({
  ...NOTHING,
  ids: new Set(ids),
  anchor,
});

export const countOf = (selection: Selection) => selection.all ?? selection.ids.size;

// One row, or with `range` those from the last one to it: all become what it becomes.
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

// All rows that are loaded; none of them when all were.
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

// What failed stays chosen, so that it can be tried again.
export const only = (ids: readonly string[]): Selection => of(ids);

// A row that is loaded later is one of everything.
export const isTicked = (selection: Selection, id: string) => selection.all !== null || selection.ids.has(id);

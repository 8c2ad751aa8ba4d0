// Keeps the rows of a list in place: new rows are only counted until the user asks for them.
//
// Always   A row that is shown moves only if one above it disappears. Older rows that are loaded
//          below are shown at once.
import { useState } from 'react';

export interface Steady<T> {
  rows: T[];
  news: number;
}

// `shown` are the rows on display; `read` are the current ones, in the same order. `hasMore`: more
// rows follow `read`.
export function steady<T>(
  shown: readonly T[],
  read: readonly T[],
  idOf: (row: T) => string,
  hasMore: boolean,
): Steady<T> {
  const known = new Set(shown.map(idOf));
  const last = read.findLastIndex((row) => known.has(idOf(row)));
  if (shown.length === 0 || (last < 0 && !hasMore)) return { rows: [...read], news: 0 };
  if (last < 0) return { rows: [...shown], news: read.length };
  const head = read.slice(0, last + 1);
  const kept = head.filter((row) => known.has(idOf(row)));
  const below = read.slice(last + 1);
  // Rows that new ones have pushed beyond the end of `read` are kept. If `read` extends further than the last
  // known row, missing rows have disappeared.
  const pushed =
    hasMore && below.length === 0
      ? shown.slice(shown.findLastIndex((row) => idOf(row) === idOf(read[last]!)) + 1)
      : [];
  return { rows: [...kept, ...pushed, ...below], news: head.length - kept.length };
}

interface Query<T> {
  data: { pages: { items: T[] }[] } | undefined;
  isPlaceholderData: boolean;
  hasNextPage: boolean;
}

// `list` names the list; for another name the rows start again. `news` in the result counts the new rows
// among those that were read, so there may be more.
export function useSteady<T>(
  query: Query<T>,
  list: string,
  idOf: (row: T) => string,
): Steady<T> & { accept: () => void } {
  const { data } = query;
  const [state, setState] = useState<Steady<T> & { list: string; data: typeof data }>({
    rows: [],
    news: 0,
    list,
    data: undefined,
  });
  const read = () => data?.pages.flatMap((page) => page.items) ?? [];
  let now = state;
  if (data !== state.data && !query.isPlaceholderData) {
    now = { ...steady(state.list === list ? state.rows : [], read(), idOf, query.hasNextPage), list, data };
    setState(now);
  }
  return { rows: now.rows, news: now.news, accept: () => setState({ rows: read(), news: 0, list, data }) };
}

// Keeps the rows of a list in place. New rows are only counted until the user asks for them.
//
// Always   A row that is shown moves only if one above it disappears. Older rows that are loaded
//          below are shown at once.
import { useState } from 'react';

export interface PinnedRows<T> {
  rows: T[];
  news: number;
}

// Merges rows. `shown` are the rows on display. `read` are the rows that were read now, in the same order.
// `hasMore`: the server has more rows after `read`.
export function pinnedRows<T>(
  shown: readonly T[],
  read: readonly T[],
  idOf: (row: T) => string,
  hasMore: boolean,
): PinnedRows<T> {
  const known = new Set(shown.map(idOf));
  const last = read.findLastIndex((row) => known.has(idOf(row)));
  if (shown.length === 0 || (last < 0 && !hasMore)) return { rows: [...read], news: 0 };
  if (last < 0) return { rows: [...shown], news: read.length };
  const head = read.slice(0, last + 1);
  const kept = head.filter((row) => known.has(idOf(row)));
  const below = read.slice(last + 1);
  // New rows may have pushed known rows beyond the end of `read`. Such rows are kept. If `read` has rows
  // after the last known row, nothing was pushed out, and a known row that is missing has disappeared.
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

// `list` names the list. If the name changes, the rows of the new list are shown at once. `news` in the
// result counts the new rows among the rows that were read. The server may have more new rows.
export function usePinnedRows<T>(
  query: Query<T>,
  list: string,
  idOf: (row: T) => string,
): PinnedRows<T> & { accept: () => void } {
  const { data } = query;
  const [state, setState] = useState<PinnedRows<T> & { list: string; data: typeof data }>({
    rows: [],
    news: 0,
    list,
    data: undefined,
  });
  const read = () => data?.pages.flatMap((page) => page.items) ?? [];
  let now = state;
  if (data !== state.data && !query.isPlaceholderData) {
    now = {
      ...pinnedRows(state.list === list ? state.rows : [], read(), idOf, query.hasNextPage),
      list,
      data,
    };
    setState(now);
  }
  return { rows: now.rows, news: now.news, accept: () => setState({ rows: read(), news: 0, list, data }) };
}

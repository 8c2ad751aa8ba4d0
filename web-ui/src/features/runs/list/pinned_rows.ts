// Rows that stay where they are while new ones come: what is new waits until it is asked for.
//
// Always  A row that is shown moves only because one above it is gone. What is loaded below comes at once.
import { useState } from 'react';

export interface Steady<T> {
  rows: T[];
  news: number;
}

// `shown`: what was shown; `read`: what is there now, in the same order. `hasMore`: there is more behind it.
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
  // New ones have pushed these off the end of what was read; where more was read than that, they are gone.
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

// `list`: which list it is; another one begins anew. What it says is `news` may be more.
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

// Queries of bulk actions. The stream of changes (topic bulk) refreshes the queries. Without the stream they
// are polled.
import { useQuery } from '@tanstack/react-query';
import { isTold } from '../../api/changes';
import { get } from '../../api/client';
import type { Query } from '../../api/url';
import { CALM_MS, FAST_MS, isRefused, useEvery, useList } from '../../api/queries';
import type { BulkAction, BulkItem } from '../../api/types';

export const bulkPath = (id: string) => 'bulk/' + encodeURIComponent(id);

export const useBulkActions = (query: Query) => useList<BulkAction>('bulk', query, CALM_MS);
export const useBulkItems = (id: string, query: Query) =>
  useList<BulkItem>(bulkPath(id) + '/items', query, CALM_MS);

export function useBulk(id: string) {
  const fast = useEvery(FAST_MS);
  const calm = useEvery(CALM_MS);
  return useQuery({
    queryKey: [bulkPath(id)],
    queryFn: ({ signal }) => get<BulkAction>(bulkPath(id), {}, signal),
    // The action is polled until it has an end time. A cancelled action still finishes the items that
    // it has begun.
    refetchInterval: ({ state }) =>
      isRefused(state.error) || (state.data && state.data.end_time !== null)
        ? false
        : isTold('bulk')
          ? calm
          : fast,
  });
}

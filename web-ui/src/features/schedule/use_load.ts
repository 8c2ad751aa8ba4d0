// Query of the numbers of fires per minute or per hour.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { get } from '../../api/client';
import type { Query } from '../../api/url';
import { useEvery } from '../../api/queries';
import type { FireLoad } from '../../api/types';

const EVERY_MS = 30_000;

export function useLoad(query: Query) {
  const refetchInterval = useEvery(EVERY_MS);
  return useQuery({
    queryKey: ['schedules', 'load', query],
    queryFn: ({ signal }) => get<FireLoad>('schedules/load', query, signal),
    refetchInterval,
    placeholderData: keepPreviousData,
  });
}

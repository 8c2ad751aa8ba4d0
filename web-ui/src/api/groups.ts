// Queries about concurrency groups and calendars. They are apart from the other queries, because few pages load
// them. Their lists have no pages.
import { useQuery } from '@tanstack/react-query';
import { get } from './client';
import { CALM_MS, FAST_MS, isRefused, useEvery } from './queries';
import type { Calendar, Group, GroupDetail } from './types';

const NAMES_STALE_MS = 30_000;

const groupsQuery = {
  queryKey: ['groups'],
  queryFn: ({ signal }: { signal: AbortSignal }) => get<{ items: Group[] }>('groups', {}, signal),
};
const calendarsQuery = {
  queryKey: ['calendars'],
  queryFn: ({ signal }: { signal: AbortSignal }) => get<{ items: Calendar[] }>('calendars', {}, signal),
};

export function useGroups() {
  const refetchInterval = useEvery(FAST_MS);
  return useQuery({
    ...groupsQuery,
    refetchInterval: ({ state }) => !isRefused(state.error) && refetchInterval,
  });
}

export function useGroup(name: string) {
  const refetchInterval = useEvery(FAST_MS);
  return useQuery({
    queryKey: ['groups', name],
    queryFn: ({ signal }) => get<GroupDetail>('groups/' + encodeURIComponent(name), {}, signal),
    refetchInterval: ({ state }) => !isRefused(state.error) && refetchInterval,
  });
}

export function useCalendars() {
  const refetchInterval = useEvery(CALM_MS);
  return useQuery({
    ...calendarsQuery,
    refetchInterval: ({ state }) => !isRefused(state.error) && refetchInterval,
  });
}

// Not repeated, because the page edits what it has read.
export function useCalendar(name: string) {
  return useQuery({
    queryKey: ['calendars', name],
    queryFn: ({ signal }) => get<Calendar>('calendars/' + encodeURIComponent(name), {}, signal),
    refetchOnWindowFocus: false,
  });
}

// These return the names that a form offers. Empty if the server is too old to know groups or calendars.
export function useGroupNames(): string[] {
  const groups = useQuery({ ...groupsQuery, staleTime: NAMES_STALE_MS });
  return groups.data?.items.map((one) => one.name) ?? [];
}

export function useCalendarNames(): string[] {
  const calendars = useQuery({ ...calendarsQuery, staleTime: NAMES_STALE_MS });
  return calendars.data?.items.map((one) => one.name) ?? [];
}

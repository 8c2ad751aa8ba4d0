// Events of the last 72 hours, and the test of an event, which starts nothing. For the page of events and the
// fields of a trigger.
import { useMutation } from '@tanstack/react-query';
import { call } from './client';
import { CALM_MS, useList } from './queries';
import type { components } from './schema';
import type { Query } from './url';

type Schemas = components['schemas'];

export type EventRecord = Schemas['EventRecord'];
export type EventStart = Schemas['EventStart'];
export type EventVerdict = Schemas['EventVerdict'];
export const EVENT_OUTCOMES: readonly EventRecord['outcome'][] = ['started', 'gap', 'refused'];

export const useEventRecords = (query: Query) => useList<EventRecord>('events', query, CALM_MS);

// `trigger`: the draft of a schedule; without one, all triggers of the namespace are asked.
export interface EventTestOf {
  namespace?: string;
  trigger?: unknown;
  job_id?: string;
}

export const useEventTest = () =>
  useMutation({
    mutationFn: async ({ event, of }: { event: unknown; of: EventTestOf }) =>
      (await call<{ items: EventVerdict[] }>('POST', 'events/test', { body: { ...of, event } })).data.items,
  });

// Queries of backfills. The audit records of a user's changes refresh them; their progress is polled.
import type { Query } from '../../api/url';
import { FAST_MS, useList } from '../../api/queries';
import type { Backfill } from '../../api/types';

export const backfillPath = (id: number) => 'backfills/' + id;

export const useBackfills = (query: Query) => useList<Backfill>('backfills', query, FAST_MS);

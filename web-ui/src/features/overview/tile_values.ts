// Computes the numbers of the tiles from responses of the API. Pure.
import type { Gap, Page, Run } from '../../api/types';

// Returns the share of successes. It is rounded down, so that with a single failure it is never 100 %.
// `bounded`: there are more runs than were read.
export function successOf(ended: Page<Run> | undefined): {
  share: number | null;
  n: number;
  bounded: boolean;
} {
  const items = ended?.items ?? [];
  const good = items.filter((run) => run.state === 'COMPLETED').length;
  return {
    share: items.length > 0 ? Math.floor((good * 100) / items.length) / 100 : null,
    n: items.length,
    bounded: typeof ended?.next_page_token === 'string',
  };
}

// Reasons of gaps that nobody has intended.
export const MISSED: readonly string[] = ['misfire', 'catch_up_limit'];

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
// Returns the time a day ago, rounded down to the minute. So the query stays the same for a minute.
export const dayBefore = (now: number): string =>
  new Date(Math.floor(now / MINUTE_MS) * MINUTE_MS - DAY_MS).toISOString();

export const firesIn = (gaps: readonly Gap[]): number => gaps.reduce((sum, gap) => sum + gap.count, 0);

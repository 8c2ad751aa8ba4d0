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

export const firesIn = (gaps: readonly Gap[]): number => gaps.reduce((sum, gap) => sum + gap.count, 0);

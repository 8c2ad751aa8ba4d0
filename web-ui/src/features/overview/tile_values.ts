// From what the API says to the numbers of the tiles. Pure.
import type { Gap, Page, Run } from '../../api/types';

// Rounded down: a single failure is never 100 %. `bounded`: there are more than were read.
export function successOf(ended: Page<Run> | undefined): { share: number | null; n: number; bounded: boolean } {
  const items = ended?.items ?? [];
  const good = items.filter((run) => run.state === 'COMPLETED').length;
  return {
    share: items.length > 0 ? Math.floor((good * 100) / items.length) / 100 : null,
    n: items.length,
    bounded: typeof ended?.next_page_token === 'string',
  };
}

// Nobody meant to leave these out.
const MISSED = new Set(['misfire', 'catch_up_limit']);

// Fires that were missed since then; `more`: older gaps than those read may be among them.
export function missedSince(gaps: readonly Gap[], since: number, hasMore: boolean): { fires: number; more: boolean } {
  const recent = gaps.filter((gap) => Date.parse(gap.to) > since);
  const fires = recent.filter((gap) => MISSED.has(gap.reason)).reduce((sum, gap) => sum + gap.count, 0);
  return { fires, more: hasMore && recent.length === gaps.length };
}

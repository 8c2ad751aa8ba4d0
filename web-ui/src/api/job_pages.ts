// Reads pages of jobs. The server examines a limited number of jobs per request. So a page may be short, or
// even empty, although more jobs follow.
import { get } from './client';
import type { Job, Page } from './types';
import type { Query } from './url';

const ROUNDS = 10; // most requests for one page; enough to search about a million jobs by name

// Pages look into these fields of a definition. A job whose definition cannot be read comes without them.
const withEmptyFields = (job: Partial<Job>) => ({
  schedules: [],
  parameters: {},
  parameter_rules: {},
  env: {},
  labels: {},
  ...job,
});
export const withDefinition = (job: Job): Job => (job.problem ? (withEmptyFields(job) as Job) : job);

async function readPage(query: Query, signal: AbortSignal): Promise<Page<Job>> {
  const page = await get<Page<Job>>('jobs', query, signal);
  return { ...page, items: page.items.map(withDefinition) };
}

const isShort = (page: Page<Job>, size: number) => page.next_page_token !== null && page.items.length < size;

// Returns a full page, or the jobs that ROUNDS requests have found.
export async function readJobs(
  query: Query & { page_size: number },
  signal: AbortSignal,
): Promise<Page<Job>> {
  const page = await readPage(query, signal);
  if (!isShort(page, query.page_size)) return page;
  for (let round = 1; round < ROUNDS && isShort(page, query.page_size); ++round) {
    const next = await readPage(
      {
        ...query,
        page_size: query.page_size - page.items.length,
        page_token: page.next_page_token ?? undefined,
      },
      signal,
    );
    page.items.push(...next.items);
    page.next_page_token = next.next_page_token;
  }
  page.searched = isShort(page, query.page_size) ? 'unfinished' : 'full';
  const { total_at_least, ...rest } = page;
  if (total_at_least === undefined) return page;
  if (page.next_page_token === null) return { ...rest, total: page.items.length };
  return { ...rest, total_at_least: Math.max(total_at_least, page.items.length) };
}

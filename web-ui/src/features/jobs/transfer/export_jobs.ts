// Reads all jobs that match a filter. Gives the jobs to the browser as a file.
import { get } from '../../../api/client';
import type { Query } from '../../../api/url';
import type { Job, Page } from '../../../api/types';
import { yamlOfJobs } from './export_values';

const PAGE = 500;

async function readAll(filter: Query): Promise<Job[]> {
  const jobs: Job[] = [];
  let page_token: string | undefined;
  do {
    const page: Page<Job> = await get<Page<Job>>('jobs', { ...filter, page_size: PAGE, page_token });
    jobs.push(...page.items);
    page_token = page.next_page_token ?? undefined;
  } while (page_token !== undefined);
  return jobs;
}

function save(text: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/yaml' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

// Saves the given jobs as a file, or all jobs that match `filter`. Returns the number of jobs.
export async function exportJobs(what: { jobs: readonly Job[] } | { filter: Query }): Promise<number> {
  const found = 'jobs' in what ? what.jobs : await readAll(what.filter);
  // What is known of a job whose definition cannot be read would make another job of it.
  const jobs = found.filter((job) => !job.problem);
  save(yamlOfJobs(jobs), 'jobs.yaml');
  return jobs.length;
}

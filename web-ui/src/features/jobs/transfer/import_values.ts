// Reads files of jobs as the command line does. Makes the requests of an import. Pure.
import './texts.en';
import { parseAllDocuments } from 'yaml';
import type { Problem, ScheduleWarning } from '../../../api/types';
import type { Definition } from '../form/definition';
import { unquotedIn } from '../yaml/yaml_hint';

export const JOBS_MAX = 500; // jobs per request; the server's limit
export const BYTES_MAX = 1_000_000; // bytes per request; slightly less than the server's limit of 1 MiB

export interface Applied {
  dry_run: boolean;
  counts: Record<string, number>;
  prune_complete: boolean | null;
  items: AppliedItem[];
}
export interface AppliedItem {
  index: number | null;
  job_id: string | null;
  name: string | null;
  result: string;
  version: number | null;
  changes: { path: string; from: unknown; to: unknown }[] | null;
  warnings?: ScheduleWarning[];
  error: Pick<Problem, 'code' | 'detail' | 'errors'> | null;
}

// The problem with the content of a file, as a key of the texts and the values for the text.
export interface Unread {
  key: string;
  values: Record<string, string | number>;
}
export type Read = { jobs: Definition[] } | { wrong: Unread };

const wrong = (key: string, values: Unread['values'] = {}): Read => ({ wrong: { key, values } });
const isObject = (value: unknown): value is Definition =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// Reads the jobs. A document is a job, a list of jobs, or {jobs: [...]}. JSON can be read too, because JSON
// is YAML.
export function readJobs(text: string): Read {
  const read = readDocuments(text);
  const found = 'wrong' in read && read.wrong.key === 'import.unreadable' ? unquotedIn(text) : null;
  return found ? wrong('import.unquoted', { ...found }) : read;
}

function readDocuments(text: string): Read {
  if (new Blob([text]).size > BYTES_MAX) return wrong('import.too_big', { n: BYTES_MAX / 1000 });
  const jobs: Definition[] = [];
  for (const document of parseAllDocuments(text)) {
    const [error] = document.errors;
    if (error)
      return wrong('import.unreadable', {
        line: error.linePos?.[0].line ?? 1,
        why: error.message.split('\n')[0]!,
      });
    let value: unknown;
    try {
      value = document.toJS();
    } catch (problem) {
      return wrong('import.unreadable', {
        line: 1,
        why: problem instanceof Error ? problem.message : String(problem),
      });
    }
    if (value === null || value === undefined) continue;
    const wrapped =
      isObject(value) && Object.keys(value).length === 1 && 'jobs' in value ? value.jobs : value;
    for (const one of Array.isArray(wrapped) ? (wrapped as unknown[]) : [wrapped]) {
      if (!isObject(one)) return wrong('import.no_job', { n: jobs.length + 1 });
      jobs.push(one);
    }
  }
  if (jobs.length === 0) return wrong('import.empty');
  return jobs.length > JOBS_MAX ? wrong('import.too_many', { n: jobs.length, most: JOBS_MAX }) : { jobs };
}

export interface Options {
  namespace: string;
  prune: boolean;
  selector: string;
}

// Prunes only if a namespace is given. So jobs of other namespaces are never deleted.
export function queryOf({ namespace, prune, selector }: Options): Record<string, string> {
  const within = namespace.trim();
  return {
    ...(within ? { namespace: within } : {}),
    ...(within && prune ? { prune: 'true', selector: selector.trim() } : {}),
  };
}

// Adds the versions that the preview showed. If a job has changed since the preview, the import of this job
// then fails with a conflict.
export function asSeen(jobs: readonly Definition[], seen: Applied): Definition[] {
  const versions = new Map(seen.items.map((item) => [item.index, item.version]));
  return jobs.map((job, i) =>
    'version' in job || !versions.get(i) ? job : { ...job, version: versions.get(i) },
  );
}

// Compares what a page makes the browser fetch with its budget: KiB of gzipped JavaScript with everything
// that it imports, the style sheet, and all of dist. Reads the manifest of the last build.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const PAGES_KIB = {
  'overview/overview_page': 152,
  'jobs/list/jobs_page': 230,
  'jobs/detail/job_page': 230,
  'jobs/form/form_page': 245,
  'jobs/transfer/import_page': 230,
  'runs/list/runs_page': 160,
  'runs/detail/run_page': 166,
  'runs/nodes/run_nodes': 235,
  'workflows/graph_tab': 235,
  'gaps/gaps_page': 170,
  'events/events_page': 170,
  'bulk/bulk_list_page': 170,
  'bulk/bulk_page': 170,
  'executors/executors_page': 170,
  'executors/executor_page': 170,
  'system/system_page': 170,
  'audit/audit_page': 170,
  'users/users_page': 170,
  'tokens/tokens_page': 170,
  'secrets/secrets_page': 170,
  'groups/groups_page': 170,
  'groups/group_page': 170,
  'calendars/calendars_page': 170,
  'calendars/calendar_page': 170,
  'notices/deliveries_page': 170,
  'dead_letters/dead_letters_page': 170,
  'account/account_page': 170,
  'schedule/schedule_page': 170,
};
const CSS_KIB = 20;
const DIST_KIB = 2300; // without the encoded forms; the graph of a workflow is 250 of it, the editor of YAML 400

const manifest = JSON.parse(readFileSync('node_modules/.carillon/manifest.json', 'utf8'));

function withImports(key, seen = new Set()) {
  if (seen.has(key)) return seen;
  seen.add(key);
  for (const one of manifest[key].imports ?? []) withImports(one, seen);
  return seen;
}
const gzipped = (file) => gzipSync(readFileSync(join('dist', file)), { level: 9 }).length / 1024;

let failed = false;
function check(name, is, most) {
  const over = is > most;
  failed ||= over;
  console.log(`${over ? 'OVER ' : 'ok   '} ${name.padEnd(32)} ${is.toFixed(1).padStart(7)} of ${most} KiB`);
}

for (const [page, most] of Object.entries(PAGES_KIB)) {
  const keys = withImports(`src/features/${page}.tsx`, withImports('index.html'));
  check(
    page,
    [...keys].reduce((sum, key) => sum + gzipped(manifest[key].file), 0),
    most,
  );
}
const css = new Set(Object.values(manifest).flatMap((chunk) => chunk.css ?? []));
check(
  'style sheets',
  [...css].reduce((sum, file) => sum + gzipped(file), 0),
  CSS_KIB,
);
const files = readdirSync('dist', { recursive: true }).map((file) => join('dist', file));
const plain = files.filter((file) => statSync(file).isFile() && !/\.(gz|br)$/.test(file));
check('dist', plain.reduce((sum, file) => sum + statSync(file).size, 0) / 1024, DIST_KIB);
process.exit(failed ? 1 : 0);

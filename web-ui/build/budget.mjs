// Compares what a page makes the browser fetch with its budget: KiB of gzipped JavaScript with everything
// that it imports, the style sheet, and all of dist. Reads the manifest of the last build.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const PAGES_KIB = {
  'overview/overview_page': 150,
  'jobs/jobs_page': 230,
  'jobs/job_page': 230,
  'jobs/form_page': 240,
  'jobs/import_page': 230,
  'runs/runs_page': 160,
  'runs/run_page': 160,
  'gaps/gaps_page': 170,
  'bulk/bulk_list_page': 170,
  'bulk/bulk_page': 170,
  'executors/executors_page': 170,
  'executors/executor_page': 170,
  'system/system_page': 170,
  'admin/audit_page': 170,
  'admin/users_page': 170,
  'admin/tokens_page': 170,
  'admin/secrets_page': 170,
  'admin/deliveries_page': 170,
  'admin/dead_letters_page': 170,
  'account/account_page': 170,
  'schedule/schedule_page': 170,
};
const CSS_KIB = 20;
const DIST_KIB = 1536; // without the encoded forms

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
  console.log(`${over ? 'OVER ' : 'ok   '} ${name.padEnd(28)} ${is.toFixed(1).padStart(7)} of ${most} KiB`);
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

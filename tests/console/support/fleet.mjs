// Sample data like those after months of use: jobs with schedules, labels and owners, successful and failed runs, and
// a run with a long log.
import { openPerson, until } from './server.mjs';

export const PASSWORD = 'correct horse battery';
const JOBS = 240;
const RUNS_EACH = 3;
const AT_ONCE = 8;
const GROUPS = ['billing', 'catalogue', 'ingest', 'mail', 'reports', 'search'];
const LOG = 'for i in $(seq 1 300); do echo "2026-11-22 10:00:00 INFO  row $i of 300"; done; echo "WARN one is missing" >&2';

async function eachAtOnce(items, act) {
  const left = [...items];
  const work = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await act(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

// No job fires in the next quarter of an hour, so that no start disturbs a measurement.
function definitionOf(i) {
  const group = GROUPS[i % GROUPS.length];
  const soon = new Date(Date.now() + (20 + (i % 30)) * 60_000);
  const cron = i % 5 === 0 ? `${soon.getUTCMinutes()} ${soon.getUTCHours()} * * *` : `${i % 60} ${(soon.getUTCHours() + 2 + (i % 20)) % 24} * * ${i % 3 === 0 ? '1-5' : '*'}`;
  return {
    job_id: `${group}-${String(i).padStart(3, '0')}`, name: `${group} step ${i}`, description: `Step ${i} of ${group}`,
    command: i % 9 === 0 ? 'echo no such table >&2; exit 3' : `echo done ${i}`, cron_expression: cron, time_zone: 'UTC',
    labels: { team: group, tier: String(i % 3) }, enabled: i % 16 !== 0,
  };
}

// Data of the pages for administrators: users, tokens, secrets.
async function makeAdministration(server) {
  for (const [name, role] of [['anna', 'admin'], ['bert', 'user'], ['carl', 'read_only']]) await server.api('POST', 'users', { name, role, password: PASSWORD });
  for (const name of ['deploy', 'metrics']) await server.api('POST', 'tokens', { name, role: 'read_only' });
  for (const name of ['database', 'mail']) await server.api('POST', 'secrets', { name, value: 'only ever seen by ' + name });
}

// Returns the ids of a job and of the run with the long log, and the users who can sign in.
export async function makeFleet(server, count = JOBS) {
  await makeAdministration(server);
  const jobs = Array.from({ length: count }, (_, i) => definitionOf(i));
  await eachAtOnce(jobs, (job) => server.api('POST', 'jobs', job));
  const ids = jobs.flatMap((job) => Array(RUNS_EACH).fill(job.job_id));
  await eachAtOnce(ids, (id) => server.api('POST', `jobs/${id}/execute`, {}));
  await server.api('POST', 'jobs', { job_id: 'with-log', name: 'Reads rows', command: LOG });
  const { run_id: run } = await server.api('POST', 'jobs/with-log/execute', {});
  const open = async () => (await server.api('GET', 'runs?state=PENDING&state=RUNNING&page_size=1')).items.length;
  await until(async () => (await open()) === 0, 'all runs to end');
  return { person: 'anna', job: jobs[1].job_id, run, jobs: count + 1, runs: ids.length + 1 };
}

// The address of every page of the console, each with data on it.
export const pagesOf = (fleet) => ({
  overview: '/', jobs: '/jobs', job: '/jobs/' + fleet.job, 'new job': '/jobs/new', 'edit job': `/jobs/${fleet.job}/edit`,
  runs: '/runs', gaps: '/gaps', run: '/runs/' + fleet.run, executors: '/executors', schedule: '/schedule', system: '/system',
  users: '/admin/users', tokens: '/admin/tokens', secrets: '/admin/secrets', deliveries: '/admin/deliveries',
  'dead letters': '/admin/dead-letters', audit: '/admin/audit', account: '/account',
});

// Opens a page that is signed in as usual: with the cookie of a session that already exists.
export async function openSignedIn(browser, server, fleet) {
  const answer = await fetch(server.url + '/api/auth/login', {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ name: fleet.person, password: PASSWORD }),
  });
  const [cookie] = answer.headers.getSetCookie();
  const [, name, value] = /^([^=]+)=([^;]+)/.exec(cookie);
  const path = /path=([^;]+)/i.exec(cookie)[1];
  const person = await openPerson(browser);
  await person.page.context().addCookies([{ name, value, path, domain: new URL(server.url).hostname }]);
  await person.page.addInitScript(() => localStorage.setItem('carillon.session', '1'));
  return person;
}

// An executor dies, with its warden, while somebody looks at the console of a real cluster of two; later one is
// drained from its page.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openPerson, startBrowser, until } from './server.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const JARS = process.env.CARILLON_JARS ?? here('../../build/jars');
const BIN = process.env.CARILLON_BIN ?? here('../../build/dev/bin');
// Of silence, which is scheduler.executor_lost_ms, and what it takes from there to the page on a busy machine.
const LOST_MS = 10_000 + 2_000;
const scratch = mkdtempSync(join(tmpdir(), 'carillon-console-lost-'));
const file = (name) => join(scratch, name);
const cluster = async (verb, ...rest) => (await promisify(execFile)('python3', [
  here('../../deploy/cluster/cluster.py'), '--bin', BIN, '--jars', JARS, verb, '--dir', join(scratch, 'c'), ...rest,
], { timeout: 240_000 })).stdout;
const statusOf = async () => JSON.parse(await cluster('status', '--json'));

let browser;
let status;
let token;
before(async () => {
  await cluster('up', '--schedulers', '1', '--executors', '2');
  browser = await startBrowser();
  status = await until(async () => {
    const now = await statusOf();
    return now.ready && now.leader && now;
  }, 'a leader', 60_000);
  token = readFileSync(status.token_file, 'utf8').trim();
}, { timeout: 300_000 });
after(async () => {
  await browser?.close();
  writeFileSync(file('end'), '');
  await cluster('down', '--purge').catch(() => {});
  rmSync(scratch, { recursive: true, force: true });
}, { timeout: 120_000 });

const url = () => status.processes.find((one) => one.kind === 'scheduler').url;
async function api(method, path, body) {
  const answer = await fetch(`${url()}/api/${path}`, {
    method, headers: { Authorization: 'Bearer ' + token, 'Content-Type': 'application/json' }, body: body && JSON.stringify(body),
  });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${answer.ok ? '' : await answer.text()}`);
  return answer.json();
}
async function start(id, command, more = {}) {
  await api('POST', 'jobs', { job_id: id, name: 'Job ' + id, command, ...more });
  return (await api('POST', `jobs/${id}/execute`, {})).run_id;
}
const runIs = (id, state, on) => until(async () => {
  const run = await api('GET', 'runs/' + id);
  return run.state === state && (!on || run.executor_id === on) && run;
}, `run ${id} ${state}`, 60_000);
const row = (page, id) => page.locator('tr', { has: page.getByRole('link', { name: id, exact: true }) });
const UNTIL = (name) => `while [ ! -e ${file(name)} ] && [ ! -e ${file('end')} ]; do sleep 0.2; done; echo ended`;

test('one that is killed is shown lost, and what ran there ends by its policy and says why', { timeout: 240_000 }, async () => {
  await api('POST', 'executors/executor-1/drain', { reason: 'the runs go to the other one' });
  const again = await start('again', `if [ -e ${file('tried')} ]; then echo the second try; else touch ${file('tried')}; ${UNTIL('never')}; fi`,
    { on_lost: 'retry', retry_count: 2, retry_interval: 1 });
  const once = await start('once', UNTIL('never'), { on_lost: 'fail' });
  for (const id of [again, once]) await runIs(id, 'RUNNING', 'executor-2');
  await api('POST', 'executors/executor-1/enable', {});
  const people = await Promise.all([1, 2, 3].map(() => openPerson(browser, { token })));
  const [fleet, first, second] = people.map((one) => one.page);
  try {
    await fleet.goto(url() + '/executors');
    await row(fleet, 'executor-2').locator('[data-state=ONLINE]').waitFor();
    await first.goto(`${url()}/runs/${again}`);
    await second.goto(`${url()}/runs/${once}`);
    for (const page of [first, second]) await page.locator('h1 [data-state=RUNNING]').waitFor();
    for (const page of [fleet, first, second]) await page.evaluate(() => { globalThis.sameDocument = true; });
    const dies = (await statusOf()).processes.find((one) => one.name === 'executor-2');
    for (const pid of [dies.pid, dies.warden_pid]) process.kill(pid, 'SIGKILL');
    await row(fleet, 'executor-2').locator('[data-state=LOST]').waitFor({ timeout: LOST_MS });
    assert.ok(await row(fleet, 'executor-1').locator('[data-state=ONLINE]').isVisible());
    // Nobody knows of the attempts before their leases are over.
    await second.locator('h1 [data-state=FAILED]').waitFor({ timeout: 60_000 });
    await second.getByText('Its executor was lost').first().waitFor();
    await first.locator('h1 [data-state=COMPLETED]').waitFor({ timeout: 60_000 });
    await first.getByText('the second try').waitFor();
    assert.equal((await api('GET', 'runs/' + again)).executor_id, 'executor-1');
    await first.getByText('Its executor was lost').first().waitFor();
    for (const page of [fleet, first, second]) assert.ok(await page.evaluate(() => globalThis.sameDocument), 'no reload');
    assert.deepEqual(people.flatMap((one) => one.problems), []);
  } finally {
    await Promise.all(people.map((one) => one.close()));
  }
});

test('one that is drained from the page starts nothing new, and what runs there ends', { timeout: 240_000 }, async () => {
  await cluster('start', 'executor-2');
  await until(async () => (await api('GET', 'executors/executor-2')).state === 'ONLINE', 'executor-2', 60_000);
  await api('POST', 'executors/executor-2/drain', {});
  const long = await start('long', UNTIL('let-go'));
  await runIs(long, 'RUNNING', 'executor-1');
  await api('POST', 'executors/executor-2/enable', {});
  const { page, problems, close } = await openPerson(browser, { token });
  try {
    await page.goto(url() + '/executors');
    await row(page, 'executor-1').getByRole('button', { name: 'Drain' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
    await row(page, 'executor-1').locator('[data-state=DRAINING]').waitFor();
    const news = await Promise.all(Array.from({ length: 6 }, (_, i) => start('new-' + i, 'true')));
    for (const id of news) await runIs(id, 'COMPLETED', 'executor-2');
    assert.equal((await api('GET', 'runs/' + long)).state, 'RUNNING');
    await page.goto(`${url()}/runs/${long}`);
    await page.locator('h1 [data-state=RUNNING]').waitFor();
    writeFileSync(file('let-go'), '');
    await page.locator('h1 [data-state=COMPLETED]').waitFor();
    assert.equal((await api('GET', 'runs/' + long)).executor_id, 'executor-1');
    assert.deepEqual(problems, []);
  } finally {
    await close();
  }
});

// An executor dies with its warden while a user watches the console of a real cluster with two executors. Later an
// executor is drained from its page.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { withCluster } from '../support/cluster.mjs';
import { until } from '../support/server.mjs';

// The silence until an executor counts as lost (scheduler.executor_lost_ms), and the time until a page shows it on a
// busy machine.
const LOST_MS = 10_000 + 2_000;
const scratch = mkdtempSync(join(tmpdir(), 'carillon-console-lost-'));
const file = (name) => join(scratch, name);
// Runs without a warden do not end with the cluster. The file `end` makes them end before the cluster is removed.
after(() => writeFileSync(file('end'), ''));
const { cluster, status, person, open } = withCluster({ schedulers: 1, executors: 2 });
after(() => rmSync(scratch, { recursive: true, force: true }));

const url = () => status.processes.find((one) => one.kind === 'scheduler').url;
async function api(method, path, body) {
  const answer = await fetch(`${url()}/api/${path}`, {
    method, headers: { Authorization: 'Bearer ' + status.token, 'Content-Type': 'application/json' }, body: body && JSON.stringify(body),
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
}, `run ${id} ${state}`);
const row = (page, id) => page.locator('tr', { has: page.getByRole('link', { name: id, exact: true }) });
const UNTIL = (name) => `while [ ! -e ${file(name)} ] && [ ! -e ${file('end')} ]; do sleep 0.2; done; echo ended`;

test('a killed executor becomes lost, and its runs end by their policy with the reason', { timeout: 600_000 }, async () => {
  await api('POST', 'executors/executor-1/drain', { reason: 'the runs go to the other one' });
  const again = await start('again', `if [ -e ${file('tried')} ]; then echo the second try; else touch ${file('tried')}; ${UNTIL('never')}; fi`,
    { on_lost: 'retry', retry_count: 2, retry_interval: 1 });
  const once = await start('once', UNTIL('never'), { on_lost: 'fail' });
  for (const id of [again, once]) await runIs(id, 'RUNNING', 'executor-2');
  await api('POST', 'executors/executor-1/enable', {});
  const people = await Promise.all([1, 2, 3].map(() => open()));
  const [fleet, first, second] = people.map((one) => one.page);
  try {
    await fleet.goto(url() + '/executors');
    await row(fleet, 'executor-2').locator('[data-state=ONLINE]').waitFor();
    await first.goto(`${url()}/runs/${again}`);
    await second.goto(`${url()}/runs/${once}`);
    for (const page of [first, second]) await page.locator('h1 [data-state=RUNNING]').waitFor();
    for (const page of [fleet, first, second]) await page.evaluate(() => { globalThis.sameDocument = true; });
    const dies = JSON.parse(await cluster('status', '--json')).processes.find((one) => one.name === 'executor-2');
    for (const pid of [dies.pid, dies.warden_pid]) process.kill(pid, 'SIGKILL');
    await row(fleet, 'executor-2').locator('[data-state=LOST]').waitFor({ timeout: LOST_MS });
    assert.ok(await row(fleet, 'executor-1').locator('[data-state=ONLINE]').isVisible());
    // The attempts count as running until their leases have ended.
    await second.locator('h1 [data-state=FAILED]').waitFor();
    await second.getByText('Executor lost').first().waitFor();
    await first.locator('h1 [data-state=COMPLETED]').waitFor();
    await first.getByText('the second try').waitFor();
    assert.equal((await api('GET', 'runs/' + again)).executor_id, 'executor-1');
    await first.getByText('Executor lost').first().waitFor();
    for (const page of [fleet, first, second]) assert.ok(await page.evaluate(() => globalThis.sameDocument), 'no reload');
    assert.deepEqual(people.flatMap((one) => one.problems), []);
  } finally {
    await Promise.all(people.map((one) => one.close()));
  }
});

test('a drained executor starts nothing new and finishes what it runs', { timeout: 600_000 }, async () => {
  await cluster('start', 'executor-2');
  await until(async () => (await api('GET', 'executors/executor-2')).state === 'ONLINE', 'executor-2');
  await api('POST', 'executors/executor-2/drain', {});
  const long = await start('long', UNTIL('let-go'));
  await runIs(long, 'RUNNING', 'executor-1');
  await api('POST', 'executors/executor-2/enable', {});
  await person({}, async (page) => {
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
  });
});

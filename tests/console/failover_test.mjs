// The leader is killed while somebody looks at the console, on a real cluster of two members.
//
// The console is open behind a small reverse proxy, as behind a load balancer: first at the leader, and at the
// other member once the "health check" (the test) has noticed. That is the only way in which a page that came
// from a dead member can recover without a reload; one that is open at the survivor itself never loses it, which
// the second page of the test shows.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openPerson, startBrowser, startProxy, until } from './server.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const JARS = process.env.CARILLON_JARS ?? here('../../build/jars');
const BIN = process.env.CARILLON_BIN ?? here('../../build/dev/bin');
const BANNER = 'The server does not answer. What you see is as it was';
const scratch = mkdtempSync(join(tmpdir(), 'carillon-console-cluster-'));
const cluster = async (verb, ...rest) => (await promisify(execFile)('python3', [
  here('../../deploy/cluster/cluster.py'), '--bin', BIN, '--jars', JARS, verb, '--dir', join(scratch, 'c'), ...rest,
], { timeout: 240_000 })).stdout;
const statusOf = async () => JSON.parse(await cluster('status', '--json'));

let browser;
let status;
before(async () => {
  await cluster('up', '--schedulers', '2', '--executors', '1');
  browser = await startBrowser();
  status = await until(async () => {
    const now = await statusOf();
    return now.ready && now.leader && now;
  }, 'a leader', 60_000);
}, { timeout: 300_000 });
after(async () => {
  await browser?.close();
  await cluster('down', '--purge').catch(() => {});
  rmSync(scratch, { recursive: true, force: true });
}, { timeout: 120_000 });

// Each state that the page's heading ever shows, in order.
const watchStates = (page) => page.evaluate(() => {
  const seen = [];
  const look = () => {
    const state = document.querySelector('h1 [data-state]')?.dataset.state;
    if (state && seen.at(-1) !== state) seen.push(state);
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
  look();
  globalThis.statesSeen = seen;
});

test('banner, recovery without a reload, and no state that goes back', { timeout: 240_000 }, async () => {
  const token = readFileSync(status.token_file, 'utf8').trim();
  const members = status.processes.filter((one) => one.kind === 'scheduler');
  const leader = members.find((one) => one.name === status.leader);
  const other = members.find((one) => one !== leader);
  const api = async (method, path, body) => {
    const answer = await fetch(`${other.url}/api/${path}`, {
      method, headers: { Authorization: 'Bearer ' + token, 'Content-Type': 'application/json' }, body: body && JSON.stringify(body),
    });
    assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
    return answer.json();
  };
  await api('POST', 'jobs', { job_id: 'long', name: 'Long', command: 'sleep 15; echo survived' });
  const { run_id } = await api('POST', 'jobs/long/execute', {});
  const proxy = await startProxy(leader.url, '/carillon');
  const behind = await openPerson(browser, { token, asked: ['/api/'] });
  const direct = await openPerson(browser, { token });
  try {
    await behind.page.goto(`${proxy.url}/runs/${run_id}`);
    await direct.page.goto(`${other.url}/runs/${run_id}`);
    for (const { page } of [behind, direct]) {
      await page.locator('h1 [data-state=RUNNING]').waitFor({ timeout: 30_000 });
      await watchStates(page);
    }
    await cluster('kill', leader.name, 'KILL');
    await behind.page.getByText(BANNER).waitFor();
    assert.ok(await behind.page.locator('h1 [data-state=RUNNING]').isVisible(), 'what was shown stays');
    proxy.lead(other.url);
    await behind.page.getByText(BANNER).waitFor({ state: 'detached' });
    for (const { page } of [behind, direct]) {
      await page.locator('h1 [data-state=COMPLETED]').waitFor({ timeout: 60_000 });
      // The list would be gone after a reload.
      assert.deepEqual(await page.evaluate(() => globalThis.statesSeen), ['RUNNING', 'COMPLETED']);
    }
    await behind.page.getByRole('link', { name: 'System' }).click();
    await until(async () => (await api('GET', 'system/status')).leader === other.name, 'the new leader', 60_000);
    await behind.page.getByText(other.name).first().waitFor();
    assert.equal((await api('GET', 'runs?job_id=long')).items.length, 1, 'it ran once');
    assert.deepEqual([...behind.problems, ...direct.problems], []);
  } finally {
    await behind.close();
    await direct.close();
    proxy.stop();
  }
});

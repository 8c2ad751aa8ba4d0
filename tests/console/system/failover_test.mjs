// The leader of a real cluster of two members is killed while a user has the console open.
//
// The console is open behind a small reverse proxy, as behind a load balancer: first connected to the leader, and then,
// when the "health check" (the test) has noticed the death, to the other member. Only so can a page of a dead member
// recover without a reload. The second page of the test is connected to the surviving member and never loses it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withCluster } from '../support/cluster.mjs';
import { startProxy, until } from '../support/server.mjs';

const BANNER = 'The server is not responding. Last update';
const { cluster, status, open } = withCluster({ schedulers: 2, executors: 1 });

// Records every state that the page's heading shows, in order.
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

test('failover: the banner appears, the page recovers without a reload, and no state goes back', { timeout: 600_000 }, async () => {
  const members = status.processes.filter((one) => one.kind === 'scheduler');
  const leader = members.find((one) => one.name === status.leader);
  const other = members.find((one) => one !== leader);
  const api = async (method, path, body) => {
    const answer = await fetch(`${other.url}/api/${path}`, {
      method, headers: { Authorization: 'Bearer ' + status.token, 'Content-Type': 'application/json' }, body: body && JSON.stringify(body),
    });
    assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
    return answer.json();
  };
  await api('POST', 'jobs', { job_id: 'long', name: 'Long', command: 'sleep 15; echo survived' });
  const { run_id } = await api('POST', 'jobs/long/execute', {});
  const proxy = await startProxy(leader.url, '/carillon');
  const behind = await open({ asked: ['/api/'] });
  const direct = await open();
  try {
    await behind.page.goto(`${proxy.url}/runs/${run_id}`);
    await direct.page.goto(`${other.url}/runs/${run_id}`);
    for (const { page } of [behind, direct]) {
      await page.locator('h1 [data-state=RUNNING]').waitFor();
      await watchStates(page);
    }
    await cluster('kill', leader.name, 'KILL');
    await behind.page.getByText(BANNER).waitFor();
    assert.ok(await behind.page.locator('h1 [data-state=RUNNING]').isVisible(), 'what was shown stays');
    proxy.lead(other.url);
    await behind.page.getByText(BANNER).waitFor({ state: 'detached' });
    for (const { page } of [behind, direct]) {
      await page.locator('h1 [data-state=COMPLETED]').waitFor();
      // A reload would have cleared this list.
      assert.deepEqual(await page.evaluate(() => globalThis.statesSeen), ['RUNNING', 'COMPLETED']);
    }
    await behind.page.getByRole('link', { name: 'System' }).click();
    await until(async () => (await api('GET', 'system/status')).leader === other.name, 'the new leader');
    await behind.page.getByText(other.name).first().waitFor();
    assert.equal((await api('GET', 'runs?job_id=long')).items.length, 1, 'it ran once');
    assert.deepEqual([...behind.problems, ...direct.problems], []);
  } finally {
    await behind.close();
    await direct.close();
    proxy.stop();
  }
});

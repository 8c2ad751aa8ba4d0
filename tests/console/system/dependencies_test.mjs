// The system page of a real cluster while one of its parts hangs: the page shows the part, the impact and the recovery.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withCluster } from '../support/cluster.mjs';
import { look } from '../support/server.mjs';

const { cluster, status, person } = withCluster({ schedulers: 1, executors: 1 });
const urlOf = () => status.processes.find((one) => one.kind === 'scheduler').url;
const state = (page, node, state) => page.locator(`[data-node="${node}"] [data-node-state=${state}]`);
const narrow = { width: 360, height: 740 };

test('dependencies: a hanging bus is shown with its impact until it returns', { timeout: 600_000 }, async () => {
  await person({ asked: ['/api/'] }, async (page) => {
    await page.goto(urlOf() + '/system');
    for (const node of ['store', 'coordinator', 'bus', 'member:scheduler-1', 'executor:executor-1']) {
      await state(page, node, 'ok').waitFor();
    }
    await page.getByText('Nothing is down.').waitFor();
    await page.locator('[data-node=bus] summary').click();
    await page.locator('[data-node=bus]').getByText('Tasks are delayed.', { exact: false }).waitFor();
    await page.getByText('Task backlog').waitFor();

    await cluster('kill', 'kafka', 'STOP');
    try {
      await state(page, 'bus', 'down').waitFor();
      const impact = page.getByTestId('impact');
      await impact.getByText('Current impact (Bus)').waitFor();
      assert.equal(await impact.locator('li').count(), 5);
      assert.deepEqual(await look(page, 'an outage'), []);
      await page.setViewportSize(narrow);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, 'it fits a phone');
      assert.deepEqual(await look(page, 'an outage on a phone'), []);
    } finally {
      await cluster('kill', 'kafka', 'CONT');
    }
    await state(page, 'bus', 'ok').waitFor();
    await page.getByText('Nothing is down.').waitFor();
  });
});

for (const [locale, words] of [['en-GB', 'Current impact (Database)'], ['zh-CN', '当前的影响 (数据库)']]) {
  test(`dependencies: an outage is explained in ${locale}, dark`, { timeout: 600_000 }, async () => {
    await person({ asked: ['/api/'], theme: 'dark', locale }, async (page) => {
      // Plays the answer of a member that cannot reach its store.
      await page.route('**/api/system/topology', async (route) => {
        const answer = await (await route.fetch()).json();
        const store = answer.nodes.find((node) => node.id === 'store');
        Object.assign(store, { state: 'down', detail: 'No response.' });
        await route.fulfill({ json: { ...answer, state: 'down', impact: store.affects.map((one) => ({ ...one, nodes: ['store'] })) } });
      });
      await page.goto(urlOf() + '/system');
      const impact = page.getByTestId('impact');
      await impact.getByText(words).waitFor();
      assert.equal(await impact.locator('li').count(), 9);
      if (locale === 'zh-CN') assert.doesNotMatch(await impact.innerText(), /[a-z]{4,}/, 'no English is left');
      assert.deepEqual(await look(page, locale), []);
    });
  });
}

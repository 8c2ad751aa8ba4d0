// The system page: versions, members that do not know of a pause, problems, and how often the page is refreshed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { look, until, withServer } from '../support/server.mjs';

const { server, person } = withServer();

// Plays the answer of members with two versions, one of which does not know of the pause.
const asThree = async (page) => {
  const status = await server.api('GET', 'system/status');
  const [one] = status.members;
  await page.route('**/api/system/status', (route) => route.fulfill({ json: {
    ...status,
    paused: { since: '2026-03-01T02:00:00Z', by: 'anna', reason: '7' },
    members: [
      { ...one, id: 'm1', version: '0.1.0', paused: true }, { ...one, id: 'm2', version: '0.2.0', paused: false }, { ...one, id: 'm3', version: null, paused: null },
    ],
  } }));
};

for (const [locale, theme, skew, behind] of [
  ['en-GB', 'light', /^Members run different versions: 0\.1\.0 \(m1\), 0\.2\.0 \(m2\)/, 'Not yet paused: m2.'],
  ['zh-CN', 'dark', /^各成员的版本不同：0\.1\.0 \(m1\), 0\.2\.0 \(m2\)/, '尚未生效的成员：m2。'],
]) {
  test(`system: a version skew and a partial pause are reported in ${locale}, also on a phone`, async () => {
    await person({ locale, theme }, async (page) => {
      await asThree(page);
      await page.goto(server.url + '/system');
      await page.getByRole('status').filter({ hasText: skew }).waitFor();
      await page.getByText(behind, { exact: false }).waitFor();
      await page.getByRole('listitem').filter({ hasText: skew }).waitFor(); // in the list of problems
      assert.deepEqual(await look(page, 'members'), []);
      await page.setViewportSize({ width: 360, height: 740 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(wide <= 0, `${wide} px too wide`);
    });
  });
}

test('system: a reachable member’s metrics are one click away', async () => {
  await person({}, async (page) => {
    await page.goto(server.url + '/system');
    const link = page.getByRole('link', { name: 'Metrics of scheduler-1', exact: false });
    const [opened] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
    await opened.getByText('carillon_build_info', { exact: false }).first().waitFor();
  });
});

test('system: the page shows what needs attention, as the overview does', async () => {
  await server.api('POST', 'jobs', { job_id: 'bad', name: 'Bad', command: 'exit 3' });
  await server.api('POST', 'jobs/bad/execute', {});
  await until(async () => (await server.api('GET', 'dead-letters')).items.length === 1, 'a dead letter');
  await person({}, async (page) => {
    await page.goto(server.url + '/system');
    await page.getByText('Bad: the last run failed').waitFor();
  });
});

test('system: the refresh pace is kept in the address', async () => {
  await person({}, async (page) => {
    let asked = 0;
    await page.clock.install();
    await page.route('**/api/system/status', (route) => {
      asked += 1;
      return route.continue();
    });
    await page.goto(server.url + '/system?refresh=off');
    const choice = page.getByRole('combobox', { name: 'Refresh' });
    await choice.waitFor();
    assert.equal(await choice.inputValue(), 'off');
    await page.getByRole('heading', { name: 'Members', exact: true }).waitFor();
    const before = asked;
    await page.clock.runFor(120_000);
    assert.equal(asked, before, 'off is off');
    await choice.selectOption('60');
    await page.waitForURL('**refresh=60');
    await page.clock.runFor(55_000);
    assert.equal(asked, before, 'not before a minute is over');
    await page.clock.runFor(10_000);
    await until(() => asked === before + 1, 'the reading after a minute');
    await choice.selectOption('5');
    await page.waitForURL(/\/system$/);
    await page.clock.runFor(6000);
    await until(() => asked > before + 1, 'the reading after five seconds');
    assert.deepEqual(await look(page, 'the choice'), []);
    await page.getByRole('button', { name: 'Pause updates' }).click();
    assert.ok(await choice.isDisabled());
  });
});

test('system: the history is drawn in the range of its address and repeated in a table', async () => {
  await person({}, async (page) => {
    await page.goto(server.url + '/system');
    await page.getByRole('combobox', { name: 'Range' }).selectOption('15');
    await page.waitForURL('**range=15');
    const pending = page.locator('div', { has: page.getByTestId('history-pending') }).last();
    await pending.getByText('now 0, max 0').waitFor();
    // After another sample the line is longer.
    const points = () => page.getByTestId('history-pending').locator('polyline').first().getAttribute('points').then((text) => text.split(' ').length);
    const before = await points();
    await until(async () => (await points()) > before, 'the next sample');
    await page.getByText('As a table (maximum per minute)').click();
    await page.getByRole('table', { name: 'As a table (maximum per minute)' }).or(page.getByRole('region', { name: 'As a table (maximum per minute)' })).first().waitFor();
    assert.deepEqual(await look(page, 'history'), []);
    await page.reload();
    assert.equal(await page.getByRole('combobox', { name: 'Range' }).inputValue(), '15');
    await page.setViewportSize({ width: 360, height: 740 });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth) <= 0);
  });
});

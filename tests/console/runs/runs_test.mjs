// The list of runs: new runs appear only on request, durations, and a range of times; in a real browser against
// a real server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { look, until, withServer } from '../support/server.mjs';

const { server, person } = withServer(async () => {
  await server.api('POST', 'jobs', { job_id: 'short', name: 'Short', command: 'true' });
  await server.api('POST', 'jobs', { job_id: 'long', name: 'Long', command: 'sleep 1.5' });
  for (const id of ['short', 'long', 'short']) await run(id);
  await until(async () => (await server.api('GET', 'runs?state=COMPLETED')).items.length === 3, 'three runs');
});
const run = async (id) => (await server.api('POST', `jobs/${id}/execute`, {})).run_id;
const shown = (page) => page.locator('tr[data-row]').evaluateAll((rows) => rows.map((row) => row.dataset.row));

for (const theme of ['light', 'dark']) {
  test(`new runs are counted without moving a row and shown on request, ${theme}`, async () => {
    await person({ theme }, async (page) => {
      await page.goto(server.url + '/runs');
      await page.locator('tr[data-row]').first().waitFor();
      const rows = await shown(page);
      const top = () => page.locator(`tr[data-row="${rows[0]}"]`).boundingBox();
      const { y } = await top();
      const fresh = [await run('short')];
      const pill = page.getByRole('button', { name: /^\d+ new$/ });
      await pill.filter({ hasText: '1 new' }).waitFor();
      fresh.unshift(await run('short'));
      await pill.filter({ hasText: '2 new' }).waitFor();
      assert.deepEqual(await shown(page), rows);
      assert.equal((await top()).y, y, 'nothing moved');
      assert.deepEqual(await look(page, 'new ones'), []);
      await pill.focus();
      await page.keyboard.press('Enter');
      await until(async () => (await shown(page)).length === rows.length + 2, 'the new ones');
      assert.deepEqual(await shown(page), [...fresh, ...rows]);
      assert.equal(await pill.count(), 0);
      assert.ok(await page.evaluate(() => document.activeElement.contains(document.querySelector('tr[data-row]'))), 'the focus is at the rows');
    });
  });
}

test('a shown run changes in place, and another filter shows all matches at once', async () => {
  await person({}, async (page) => {
    await page.goto(server.url + '/runs?job_id=long');
    await page.locator('tr[data-row]').first().waitFor();
    const id = await run('long');
    await page.getByRole('button', { name: '1 new' }).click();
    const state = page.locator(`tr[data-row="${id}"]`);
    await state.locator('[data-state=COMPLETED]').waitFor();
    await run('short');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('link', { name: 'Short' }).first().waitFor();
    assert.equal(await page.getByRole('button', { name: /new$/ }).count(), 0);
  });
});

test('the duration column shows a number and a relative bar', async () => {
  await person({}, async (page) => {
    await page.goto(server.url + '/runs?state=COMPLETED');
    await page.locator('tr[data-row]').first().waitFor();
    const bars = await page.locator('tr[data-row]').evaluateAll((rows) => rows.map((row) => ({
      name: row.querySelector('[data-column=name]').textContent, text: row.querySelector('[data-column=duration]').textContent,
      width: Number(row.querySelector('[data-column=duration] rect:last-child').getAttribute('width')),
    })));
    assert.equal(Math.max(...bars.map((one) => one.width)), 100);
    for (const one of bars) {
      assert.match(one.text, /^[\d.]+ m?s$/);
      assert.equal(one.width > 80, one.name === 'Long', JSON.stringify(one));
    }
  });
});

test('the time range is typed, kept in the address and cleared, on a phone, in Chinese', async () => {
  await person({ width: 360, locale: 'zh-CN' }, async (page) => {
    await page.goto(server.url + '/runs');
    await page.locator('tr[data-row]').first().waitFor();
    await page.getByRole('button', { name: '时间范围' }).click();
    const panel = page.getByRole('group', { name: '时间范围' });
    await panel.getByLabel('从').fill('2026-03-02T10:00');
    await panel.getByLabel('到').fill('2026-03-01T10:00');
    await panel.getByText('结束时间必须晚于开始时间。').waitFor();
    assert.ok(await panel.getByRole('button', { name: '应用' }).isDisabled());
    await panel.getByLabel('从').fill('2020-03-01T10:00');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/runs?since=2020-03-01T10%3A00%3A00.000Z&until=2026-03-01T10%3A00%3A00.000Z');
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wide <= 0, `${wide} px too wide`);
    assert.deepEqual(await look(page, 'range'), []);
    await panel.getByRole('button', { name: '任意时间' }).click();
    await until(() => new URL(page.url()).search === '', 'the address');
  });
});

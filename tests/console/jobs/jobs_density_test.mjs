// Density of the list of jobs in a real browser: enough rows are on the screen, and no column is cut off.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { look, until, withServer } from '../support/server.mjs';

const ROWS = 30;
const ROWS_SEEN = 14;
const LONG_NAME = 'Export the general ledger of all subsidiaries to the object store of the auditors';

const { server, person } = withServer(async () => {
  await server.api('POST', 'users', { name: 'magdalena', role: 'user', password: 'correct horse battery' });
  const owner = (await server.api('GET', 'users')).items.find((one) => one.name === 'magdalena').user_id;
  await server.api('POST', 'jobs', {
    job_id: 'once', name: LONG_NAME, command: 'true', user_id: owner, labels: { team: 'finance', tier: 'gold', region: 'eu-central' },
    schedules: [{ kind: 'once', at: '2099-12-31T23:59:59Z' }],
  });
  for (let i = 1; i < ROWS; ++i) {
    await server.api('POST', 'jobs', {
      job_id: `export-ledger-to-object-store-${i}`, name: `${LONG_NAME} ${i}`, command: i % 3 ? 'true' : 'exit 3', labels: { team: 'finance' },
      cron_expression: '*/15 2-4 * * MON-FRI', time_zone: 'America/Argentina/ComodRivadavia',
    });
  }
  for (let i = 1; i <= 3; ++i) await server.api('POST', `jobs/export-ledger-to-object-store-${i}/execute`, {});
  await until(async () => (await server.api('GET', 'runs?state=COMPLETED&state=FAILED')).items.length === 3, 'their runs');
});

// For each row, whether all of it is in the window; and the elements that are wider than their container.
const measured = (page) => page.evaluate(() => {
  const inWindow = (box) => box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth;
  const rows = [...document.querySelectorAll('tbody tr[data-row]')];
  const frame = document.querySelector('table').parentElement;
  const heights = [...document.querySelectorAll('main input:not([type=checkbox]), main select, main [role=group]')]
    .filter((one) => one.getBoundingClientRect().bottom < frame.getBoundingClientRect().top - 40)
    .map((one) => Math.round(one.getBoundingClientRect().height));
  return {
    whole: rows.filter((row) => inWindow(row.getBoundingClientRect())).length,
    actions: rows.filter((row) => [...row.querySelectorAll('[data-column=actions] button')].every((one) => {
      const box = one.getBoundingClientRect();
      return box.left >= 0 && box.right <= innerWidth;
    })).length,
    page: document.documentElement.scrollWidth - innerWidth,
    frame: frame.scrollWidth - frame.clientWidth,
    heights: [...new Set(heights)],
    names: rows.map((row) => row.querySelector('[data-column=name] a').getBoundingClientRect().height),
  };
});

for (const [language, locale] of [['English', 'en-GB'], ['Chinese', 'zh-CN']]) {
  for (const time of ['relative', 'local']) {
    test(`the job list shows fourteen jobs with their buttons at once: ${language}, ${time} times`, async () => {
      await person({ locale }, async (page) => {
        await page.addInitScript((mode) => localStorage.setItem('carillon.preferences', JSON.stringify({ time: mode })), time);
        for (const [width, height] of [[1440, 900], [1280, 800]]) {
          await page.setViewportSize({ width, height });
          await page.goto(server.url + '/jobs');
          await page.locator('[data-testid=strip]').first().waitFor();
          await page.locator('tr[data-row=once]').waitFor();
          const seen = await measured(page);
          assert.equal(seen.actions, ROWS, `${width}: each row has its buttons in the window`);
          assert.ok(seen.page <= 0 && seen.frame <= 0, `${width}: nothing scrolls sideways: ${JSON.stringify(seen)}`);
          if (width === 1440) assert.ok(seen.whole >= ROWS_SEEN, `${seen.whole} whole rows`);
          if (width === 1440) assert.equal(seen.heights.length, 1, `one height of what filters: ${seen.heights}`);
          assert.ok(seen.names.every((one) => one <= 24), 'names are on one line');
        }
      });
    });
  }
}

test('the last result is that of the last ended run and links to it', async () => {
  await person({}, async (page) => {
    await page.goto(server.url + '/jobs');
    const result = (i) => page.locator(`tr[data-row=export-ledger-to-object-store-${i}] [data-column=result]`);
    await result(1).getByText('Completed').waitFor();
    assert.deepEqual(await look(page, 'jobs'), []);
    await result(3).getByRole('link', { name: 'Failed' }).click();
    await page.waitForURL(/\/runs\//);
  });
});

test('the job list shows cards that fit a phone', async () => {
  await person({ width: 360 }, async (page) => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(server.url + '/jobs');
    await page.locator('[data-testid=strip]').first().waitFor();
    const seen = await measured(page);
    assert.ok(seen.page <= 0 && seen.frame <= 0, JSON.stringify(seen));
    assert.equal(seen.actions, ROWS);
  });
});

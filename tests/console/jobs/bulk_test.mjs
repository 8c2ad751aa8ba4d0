// Bulk actions that the server continues in the background: a user follows them live, leaves the page and
// finds them again.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heading, look, signIn, until, withServer } from '../support/server.mjs';

const password = 'correct horse battery';
const { server, person, guest } = withServer(async () => {
  await server.api('POST', 'users', { name: 'anna', role: 'admin', password });
});

const as = (name, path, body) => guest({ asked: ['/api/auth/'] }, async (page) => {
  await page.goto(server.url + path);
  await signIn(page, name, password);
  await body(page);
});
async function jobs(prefix, n) {
  const all = Array.from({ length: n }, (_, i) => ({ job_id: `${prefix}-${i}`, name: `Job ${prefix}-${i}`, command: 'true' }));
  await server.api('POST', 'apply', all);
  return all.map((one) => one.job_id);
}
const dialog = (page) => page.locator('.dialog');

describe('a bulk action', () => {
  test('a bulk action continues while its page is left, and ends without a reload', async () => {
    const ids = await jobs('leave', 300);
    await as('anna', '/jobs?q=leave-', async (page) => {
      await page.getByLabel('Select all 50 shown').check();
      await page.getByRole('button', { name: 'Select all matches' }).click();
      await page.getByText('All 300 matches are selected').waitFor();
      await page.getByRole('button', { name: 'Pause', exact: true }).click();
      await dialog(page).getByText('300 of 300 jobs can be paused').waitFor();
      await dialog(page).getByLabel('Reason (optional)').fill('moving house');
      await dialog(page).getByRole('button', { name: 'Pause' }).click();
      await dialog(page).getByRole('link', { name: 'View progress' }).click();
      await heading(page, /Pause 300 jobs/);
      await page.getByRole('link', { name: 'Overview' }).click();
      await heading(page, 'Overview');
      await page.goto(server.url + '/jobs');
      await page.getByRole('link', { name: 'Bulk actions' }).click();
      await heading(page, 'Bulk actions');
      await page.getByLabel('Only mine').check();
      await page.getByRole('link', { name: 'Pause 300 jobs' }).click();
      await page.locator('h1 [data-state=DONE]').waitFor();
      await page.getByText('300 in total: 300 done, 0 failed, 0 skipped').first().waitFor();
      await page.getByText('moving house').waitFor();
      assert.equal(await page.getByRole('button', { name: 'Cancel the rest' }).count(), 0);
    });
    const states = await Promise.all([ids[0], ids.at(-1)].map((id) => server.api('GET', 'jobs/' + id)));
    assert.deepEqual(states.map((one) => [one.state, one.pause_reason]), [['PAUSED', 'moving house'], ['PAUSED', 'moving house']]);
  });

  test('bulk pages: the keyboard filters them, they fit a phone, and axe finds nothing', async () => {
    const [one] = await jobs('small', 1);
    const { bulk_id: id } = await server.api('POST', 'bulk', { action: 'resume', kind: 'job', ids: [one, 'no-such-job'], background: true });
    await until(async () => (await server.api('GET', 'bulk/' + id)).state === 'DONE', 'its end');
    for (const theme of ['light', 'dark']) {
      await person({ theme, width: 360, asked: ['/api/jobs/no-such-job'] }, async (page) => {
        const told = [];
        for (const path of ['/bulk', '/bulk/' + id]) {
          await page.goto(server.url + path);
          await page.locator('table').waitFor();
          told.push(...(await look(page, path)));
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
          assert.ok(wide <= 0, `${path} is ${wide} px too wide`);
        }
        const filter = page.getByRole('button', { name: 'Failed (1)' });
        await filter.focus();
        await page.keyboard.press('Enter');
        await until(async () => (await filter.getAttribute('aria-pressed')) === 'true', 'the filter');
        assert.deepEqual(told, []);
      });
    }
  });
});

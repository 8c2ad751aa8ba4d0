// Actions on many that the server goes on with: followed live, left and found again, cancelled.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heading, look, signIn, until, withServer } from '../support/server.mjs';

const password = 'correct horse battery';
const { server, person, guest } = withServer(async () => {
  for (const [name, role] of [['anna', 'admin'], ['uma', 'user']]) await server.api('POST', 'users', { name, role, password });
});

const as = (name, path, body) => guest({ asked: ['/api/auth/'] }, async (page) => {
  await page.goto(server.url + path);
  await signIn(page, name, password);
  await body(page);
});
// Jobs that only an administrator reaches.
async function jobs(prefix, n) {
  const all = Array.from({ length: n }, (_, i) => ({ job_id: `${prefix}-${i}`, name: `Job ${prefix}-${i}`, command: 'true' }));
  for (let at = 0; at < n; at += 500) await server.api('POST', 'apply', all.slice(at, at + 500));
  return all.map((one) => one.job_id);
}
const begin = (action, ids, more = {}) => server.api('POST', 'bulk', { action, kind: 'job', ids, background: true, ...more });
const dialog = (page) => page.locator('.dialog');

describe('an action on many', () => {
  test('begins in a list, goes on while its page is left, and ends without a reload', async () => {
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
      await page.locator('h1 [data-state=DONE]').waitFor({ timeout: 60_000 });
      await page.getByText('300 in total: 300 done, 0 failed, 0 skipped').first().waitFor();
      await page.getByText('moving house').waitFor();
      assert.equal(await page.getByRole('button', { name: 'Cancel the rest' }).count(), 0);
    });
    const states = await Promise.all([ids[0], ids.at(-1)].map((id) => server.api('GET', 'jobs/' + id)));
    assert.deepEqual(states.map((one) => [one.state, one.pause_reason]), [['PAUSED', 'moving house'], ['PAUSED', 'moving house']]);
  });

  test('shows those that failed with their reason, by the filter of the address', async () => {
    const [one] = await jobs('partly', 1);
    const { bulk_id: id } = await begin('resume', [one, 'no-such-job']);
    await person({ asked: ['/api/jobs/no-such-job'] }, async (page) => {
      await page.goto(`${server.url}/bulk/${id}`);
      await page.getByText('2 in total: 1 done, 1 failed, 0 skipped').first().waitFor();
      await page.getByRole('link', { name: 'Job partly-0' }).waitFor();
      await page.getByRole('button', { name: 'Failed (1)' }).click();
      await page.waitForURL('**/bulk/*?result=error');
      await page.getByRole('link', { name: 'Job partly-0' }).waitFor({ state: 'detached' });
      await page.reload();
      const row = page.locator('tr', { hasText: 'no-such-job' });
      await row.locator('[data-state=FAILED]').waitFor();
      assert.ok((await row.locator('[lang=en]').textContent()).length > 0);
      await page.getByRole('button', { name: /^Skipped/ }).click();
      await page.getByText('No matches').waitFor();
    });
  });

  test('kills at once what is cancelled, where that was ticked', async () => {
    await server.api('POST', 'jobs', { job_id: 'stubborn', name: 'Stubborn', command: "trap '' TERM; echo deaf; sleep 600 & wait; sleep 600", kill_grace: 600 });
    const { run_id: id } = await server.api('POST', 'jobs/stubborn/execute', {});
    const log = () => fetch(`${server.url}/api/runs/${id}/logs`, { headers: { Authorization: 'Bearer ' + server.token, Accept: 'text/plain' } });
    await until(async () => (await (await log()).text()).includes('deaf'), 'its first line');
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs?q=stubborn');
      await page.locator('tr', { hasText: 'Stubborn' }).getByRole('checkbox').check();
      await page.getByRole('button', { name: 'Cancel runs' }).click();
      await dialog(page).getByLabel(/Kill immediately/).check();
      await dialog(page).getByRole('button', { name: 'Cancel runs' }).click();
      await dialog(page).getByText('1 done, 0 failed').waitFor();
      await until(async () => (await server.api('GET', 'runs/' + id)).state === 'CANCELLED', 'its end, long before its grace was over');
    });
  });

  test('is cancelled in the middle, once that was asked, and adds up', async () => {
    const ids = await jobs('halfway', 1500);
    await person({}, async (page) => {
      const { bulk_id: id } = await begin('pause', ids);
      await page.goto(`${server.url}/bulk/${id}`);
      await page.getByRole('button', { name: 'Cancel the rest' }).click();
      await dialog(page).getByText(/have not been processed/).waitFor();
      await dialog(page).getByRole('button', { name: 'Cancel the rest' }).click();
      await page.locator('h1 [data-state=CANCELLED]').waitFor();
      const ended = await until(async () => {
        const now = await server.api('GET', 'bulk/' + id);
        return now.end_time && now.done + now.failed + now.skipped === now.total && now;
      }, 'its end');
      assert.ok(ended.skipped > 0, 'it was in the middle');
      await page.getByText(new RegExp(`1,500 in total: .*, ${ended.skipped.toLocaleString('en')} skipped`)).first().waitFor();
      // Alone: what had begun may have written a page of records since.
      await page.goto(server.url + '/admin/audit?object_id=' + id);
      await page.getByRole('cell', { name: 'Cancelled a bulk action' }).waitFor();
    });
  });

  test('of somebody else is shown, and cannot be cancelled', async () => {
    const ids = await jobs('hers', 1500);
    const { bulk_id: id } = await begin('pause', ids);
    await as('uma', '/bulk/' + id, async (page) => {
      const button = page.getByRole('button', { name: 'Cancel the rest' });
      await button.waitFor();
      assert.ok(await button.isDisabled());
      assert.match(await button.getAttribute('title'), /Owned by another user/);
    });
    await server.api('POST', `bulk/${id}/cancel`, {});
  });

  test('is found and read by the keyboard, on a phone, in both themes; axe finds nothing', async () => {
    const [one] = await jobs('small', 1);
    const { bulk_id: id } = await begin('resume', [one, 'no-such-job']);
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

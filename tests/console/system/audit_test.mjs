// The audit log in the console: the changes of an action, and the log of one job, in a real browser against
// a real server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { heading, look, signIn, until, withServer } from '../support/server.mjs';

const password = 'correct horse battery';
const { server, person } = withServer(async () => {
  await server.api('POST', 'jobs', { job_id: 'backup', name: 'Backup', command: 'true', timeout: 60, env: { KEY: 'hidden' } });
  await server.api('PATCH', 'jobs/backup', { timeout: 90, env: { KEY: 'other' } }, { 'If-Match': '"v1"' });
  await server.api('POST', 'jobs/backup/pause', { reason: 'moving house' });
  await server.api('POST', 'jobs', { job_id: 'other', name: 'Other', command: 'true' });
  await server.api('POST', 'users', { name: 'anna', role: 'admin', password });
  await server.api('POST', 'users', { name: 'uma', role: 'user', password });
});
const cells = (row) => row.locator('th, td').allTextContents();

for (const theme of ['light', 'dark']) {
  test(`audit: a change unfolds to its fields with old and new values by keyboard, ${theme}`, async () => {
    await person({ theme }, async (page) => {
      await page.goto(server.url + '/admin/audit?object_id=backup');
      const button = page.getByRole('button', { name: 'Fields: 2. Changed a job, backup' });
      await button.focus();
      await page.keyboard.press('Enter');
      const rows = page.locator('td table tbody tr');
      await rows.first().waitFor();
      assert.deepEqual(await Promise.all((await rows.all()).map(cells)), [['/env/KEY', '***', '***'], ['/timeout', '60', '90']]);
      assert.deepEqual(await look(page, 'unfolded'), []);
      await page.keyboard.press('Enter');
      await rows.first().waitFor({ state: 'detached' });
    });
  });
}

test('audit: actor, action and time filters are kept in the address', async () => {
  await person({}, async (page) => {
    await page.goto(server.url + '/admin/audit');
    const rows = page.locator('tr[data-row]');
    const shows = (actions) =>
      until(async () => isDeepStrictEqual(await rows.locator('td:nth-child(3)').allTextContents(), actions), actions.join());
    await shows(['Created a user', 'Created a user', 'Created a job', 'Paused a job', 'Changed a job', 'Created a job']);
    await page.getByLabel('Action', { exact: true }).selectOption('Created a job');
    await shows(['Created a job', 'Created a job']);
    assert.match(page.url(), /action=job\.create/);
    await page.getByLabel('Exact object ID').fill('other');
    await shows(['Created a job']);
    await page.getByLabel('User or token: anna, anna/ci').fill('nobody');
    await page.getByText('No matches').first().waitFor();
    assert.deepEqual(await look(page, 'nothing found'), []);
    await page.getByRole('button', { name: /^Clear/ }).first().click();
    await shows(['Created a user', 'Created a user', 'Created a job', 'Paused a job', 'Changed a job', 'Created a job']);
    // An action in the address that this console does not know is still sent to the server.
    await page.goto(server.url + '/admin/audit?action=job.pause&action=job.sing&actor=token&since=2026-01-01T00:00:00Z');
    await shows(['Paused a job']);
    assert.match(await page.getByLabel('Action', { exact: true }).locator('option:checked').textContent(), /Paused a job, job\.sing/);
    await page.goto(server.url + '/admin/audit?until=2026-01-01T00:00:00Z');
    await page.getByText('No matches').first().waitFor();
  });
});

test('audit: the job page links to its own entries, on a phone, in Chinese', async () => {
  await person({ width: 360, locale: 'zh-CN' }, async (page) => {
    await page.goto(server.url + '/jobs/backup');
    await page.getByRole('button', { name: '审计' }).click();
    assert.match(page.url(), /tab=audit/);
    await page.locator('tr[data-row]').nth(2).waitFor();
    assert.equal(await page.locator('tr[data-row]').count(), 3);
    await page.getByRole('button', { name: /^2 个字段/ }).click();
    await page.getByText('/timeout').first().waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wide <= 0, `${wide} px too wide`);
    await page.getByRole('link', { name: '在完整审计日志中查看' }).click();
    await page.waitForURL('**/admin/audit?object_id=backup');
  });
});

test('audit: a user without the permission is not offered it and is refused by address', async () => {
  await person({ token: undefined, asked: ['/api/audit'] }, async (page) => {
    await page.goto(server.url + '/jobs/backup');
    await signIn(page, 'uma', password);
    await heading(page, 'Backup');
    await page.getByRole('button', { name: 'Did it run?' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Audit' }).count(), 0);
    await page.goto(server.url + '/jobs/backup?tab=audit');
    await page.getByText('You do not have permission to view this').waitFor();
  });
});

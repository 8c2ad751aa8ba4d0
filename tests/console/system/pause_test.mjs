// The pause of the whole cluster as users see it and control it, in a real browser against a real server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heading, look, until, withServer } from '../support/server.mjs';

const { server, person } = withServer(async () => {
  await server.api('POST', 'jobs', { job_id: 'waiter', name: 'Waiter', command: 'true' });
});
const paused = async () => (await server.api('GET', 'system/status')).paused;
const tooWide = (page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

test('cluster pause: it needs a reason, is shown on every page, holds new runs and is resumed', async () => {
  await person({ asked: ['/api/system/pause'] }, async (page) => {
    await page.goto(server.url + '/system');
    await page.getByText('Running normally.').waitFor();
    await page.getByRole('button', { name: 'Pause the cluster…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('No runs start on any executor', { exact: false }).waitFor();
    assert.deepEqual(await look(page, 'the dialog'), []);
    await dialog.getByRole('button', { name: 'Pause the cluster' }).click();
    await dialog.getByRole('alert').waitFor(); // a pause needs a reason
    assert.equal(await paused(), null);
    await dialog.getByLabel('Reason').fill('the database is moved');
    await dialog.getByRole('button', { name: 'Pause the cluster' }).click();
    const banner = page.getByTestId('paused');
    await banner.getByText('the database is moved', { exact: false }).waitFor();
    assert.equal((await paused()).reason, 'the database is moved');
    await page.getByRole('button', { name: 'Resume the cluster' }).waitFor();
    assert.deepEqual(await look(page, 'a pause'), []);

    await page.goto(server.url + '/jobs/waiter');
    await banner.waitFor();
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.waitForURL('**/runs/*');
    await page.getByRole('status').filter({ hasText: /cluster is paused/ }).first().waitFor();
    await page.getByRole('alert').getByRole('link', { name: 'System' }).click();
    await heading(page, 'System');
    await page.getByRole('button', { name: 'Resume the cluster' }).click();
    await banner.waitFor({ state: 'detached' });
    assert.equal(await paused(), null);
    await until(async () => (await server.api('GET', 'runs?job_id=waiter&state=COMPLETED')).items.length === 1, 'the run that waited');
  });
});

test('cluster pause: the palette offers it', async () => {
  await person({}, async (page) => {
    await page.goto(server.url + '/jobs');
    await heading(page, 'Jobs');
    const pick = async (name) => {
      await page.keyboard.press('Control+k');
      await page.getByLabel('Go to a page or run an action').locator('visible=true').last().waitFor();
      await page.keyboard.type('cluster');
      await page.getByRole('option', { name }).waitFor();
      await page.keyboard.press('Enter');
    };
    await pick('Pause the cluster…');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('from the palette');
    await page.keyboard.press('Enter');
    await page.getByTestId('paused').waitFor();
    await dialog.waitFor({ state: 'detached' });
    await pick('Resume the cluster');
    await page.getByTestId('paused').waitFor({ state: 'detached' });
    assert.equal(await paused(), null);
  });
});

test('cluster pause: a reader sees who may resume, in Chinese, on a phone', async () => {
  const { token } = await server.api('POST', 'tokens', { name: 'reader', role: 'read_only' });
  await server.api('POST', 'system/pause', { reason: '数据库正在迁移' });
  try {
    await person({ token, locale: 'zh-CN', width: 360, theme: 'dark' }, async (page) => {
      for (const path of ['/', '/jobs', '/system']) {
        await page.goto(server.url + path);
        const said = (await page.getByTestId('paused').innerText()).replace('token/admin', '');
        assert.match(said, /集群已被 .* 暂停：数据库正在迁移。不会启动任何运行/);
        assert.ok(await tooWide(page) <= 0, path);
      }
      const button = page.getByRole('button', { name: '恢复集群' });
      assert.ok(await button.isDisabled());
      assert.equal(await button.getAttribute('title'), '只有管理员可以暂停和恢复集群。');
      assert.deepEqual(await look(page, 'a pause, dark'), []);
    });
  } finally {
    await server.api('POST', 'system/resume', {});
  }
});

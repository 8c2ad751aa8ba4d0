// A run that ignores SIGTERM is cancelled with its grace period and then killed, also by keyboard. All open runs of a
// job are cancelled.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { look, until, withServer } from '../support/server.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'carillon-cancel-'));
after(() => rmSync(scratch, { recursive: true, force: true }));
const { server, person } = withServer();

const shown = (run) => server.api('GET', 'runs/' + run);
// Starts a run that ignores SIGTERM and has a grace period of a minute. Returns when it is ready to ignore the signal.
async function deaf(id) {
  const ready = join(scratch, id);
  await server.api('POST', 'jobs', { job_id: id, name: id, kill_grace: 60, command: `trap 'echo asked' TERM; echo 1 > ${ready}; while :; do sleep 0.2; done` });
  const { run_id: run } = await server.api('POST', `jobs/${id}/execute`, {});
  await until(() => existsSync(ready), 'the command');
  return run;
}

test('a run that ignores its cancel is killed on request, and says so', async () => {
  const run = await deaf('deaf');
  await person({}, async (page) => {
    await page.goto(`${server.url}/runs/${run}`);
    await page.locator('h1 [data-state=RUNNING]').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Kill now' }).count(), 0);
    await page.getByRole('button', { name: 'Cancel run' }).click();
    await page.getByRole('status').getByText('Cancelling. Processes that do not exit within the kill grace period are killed.').waitFor();
    await page.getByRole('log').getByText('asked').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Cancel run' }).count(), 0);
    assert.deepEqual(await look(page, 'being cancelled'), []);
    await page.getByRole('button', { name: 'Kill now' }).click();
    const dialog = page.getByRole('dialog', { name: 'Kill this run now?' });
    await dialog.waitFor();
    assert.deepEqual(await look(page, 'the question'), []);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.deepEqual([(await shown(run)).state, (await shown(run)).cancel_mode], ['RUNNING', 'graceful']);
    await page.getByRole('button', { name: 'Kill now' }).click();
    await dialog.getByRole('button', { name: 'Kill now' }).click();
    await page.locator('h1 [data-state=CANCELLED]').waitFor();
    await page.getByText('killed by token/admin').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Kill now' }).count(), 0);
  });
});

test('a run is cancelled and killed by keyboard, in Chinese', async () => {
  const run = await deaf('taub');
  await person({ locale: 'zh-CN' }, async (page) => {
    await page.goto(`${server.url}/runs/${run}`);
    await page.locator('h1 [data-state=RUNNING]').waitFor();
    await page.getByRole('button', { name: '取消运行' }).press('Enter');
    await page.getByText('正在取消：未在宽限期内退出的进程将被强制终止。').waitFor();
    const kill = page.getByRole('button', { name: '立即强制终止' });
    await until(() => kill.evaluate((button) => button === document.activeElement), 'the focus to stay');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: '立即强制终止此运行？' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await until(() => kill.evaluate((button) => button === document.activeElement), 'the focus to come back');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: '立即强制终止' }).press('Enter');
    await page.locator('h1 [data-state=CANCELLED]').waitFor();
    assert.equal((await shown(run)).error, 'killed by token/admin');
  });
});

test('the run page shows who cancelled the run and why', async () => {
  const run = await deaf('asked');
  await person({}, async (page) => {
    await page.goto(`${server.url}/runs/${run}`);
    await page.locator('h1 [data-state=RUNNING]').waitFor();
    await server.api('POST', `runs/${run}/cancel`, { reason: 'wrong day' });
    const told = page.getByRole('status').filter({ hasText: 'Cancelling.' });
    await told.getByText('cancelled by token/admin: wrong day').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Kill now' }).isEnabled());
    await server.api('POST', `runs/${run}/cancel`, { mode: 'kill' });
    await page.locator('h1 [data-state=CANCELLED]').waitFor();
  });
});

test('a job’s runs are counted and then cancelled together', async () => {
  await server.api('POST', 'jobs', { job_id: 'sleeps', name: 'Job sleeps', command: 'sleep 300', kill_grace: 1 });
  for (let i = 0; i < 2; ++i) await server.api('POST', 'jobs/sleeps/execute', {});
  const runs = async () => (await server.api('GET', 'runs?job_id=sleeps')).items;
  const all = async (state) => (await runs()).every((run) => run.state === state);
  await until(() => all('RUNNING'), 'two that run');
  await person({}, async (page) => {
    const dialog = page.locator('.dialog');
    await page.goto(server.url + '/jobs/sleeps');
    await page.getByRole('button', { name: 'Cancel runs…' }).click();
    await dialog.getByText('2 running, 0 pending, 0 held').waitFor();
    assert.deepEqual(await look(page, 'cancel runs'), []);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.deepEqual((await runs()).map((run) => run.state), ['RUNNING', 'RUNNING']);
    const button = page.getByRole('button', { name: 'Cancel runs…' });
    await until(() => button.evaluate((one) => one === document.activeElement), 'the focus back');
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Reason (optional)').fill('enough');
    await page.keyboard.press('Enter');
    await page.getByText('Cancelling 2 runs of Job sleeps').waitFor();
  });
  await until(() => all('CANCELLED'), 'both cancelled');
  assert.match((await runs())[0].error, /enough/);
});

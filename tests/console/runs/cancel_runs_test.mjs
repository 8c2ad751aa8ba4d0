// Every open run of a job, or of several, is cancelled.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { look, until, withServer } from '../support/server.mjs';

const { server, person } = withServer();

const dialog = (page) => page.locator('.dialog');
const states = async (id) => (await server.api('GET', 'runs?job_id=' + id)).items.map((run) => run.state);
async function runningTwice(id) {
  await server.api('POST', 'jobs', { job_id: id, name: 'Job ' + id, command: 'sleep 300', kill_grace: 1 });
  for (let i = 0; i < 2; ++i) await server.api('POST', `jobs/${id}/execute`, {});
  await until(async () => (await states(id)).every((state) => state === 'RUNNING'), 'two that run');
}

describe('all runs', () => {
  test('of a job, after it is said how many they are', async () => {
    await runningTwice('sleeps');
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs/sleeps');
      await page.getByRole('button', { name: 'Cancel runs…' }).click();
      await dialog(page).getByText('2 running, 0 pending, 0 held').waitFor();
      assert.deepEqual(await look(page, 'cancel runs'), []);
      await page.keyboard.press('Escape');
      await dialog(page).waitFor({ state: 'detached' });
      assert.deepEqual(await states('sleeps'), ['RUNNING', 'RUNNING']);
      const button = page.getByRole('button', { name: 'Cancel runs…' });
      await until(() => button.evaluate((one) => one === document.activeElement), 'the focus back');
      await page.keyboard.press('Enter');
      await dialog(page).getByLabel('Reason (optional)').fill('enough');
      await page.keyboard.press('Enter');
      await page.getByText('Cancelling 2 runs of Job sleeps').waitFor();
    });
    await until(async () => (await states('sleeps')).every((state) => state === 'CANCELLED'), 'both cancelled');
    const { items } = await server.api('GET', 'runs?job_id=sleeps');
    assert.match(items[0].error, /enough/);
  });

  test('of the jobs that are ticked', async () => {
    await runningTwice('naps-1');
    await runningTwice('naps-2');
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs?q=naps-');
      await page.getByLabel('Select all 2 shown').check();
      await page.getByRole('button', { name: 'Cancel runs', exact: true }).click();
      await dialog(page).getByRole('heading', { name: 'Cancel all runs of these jobs?' }).waitFor();
      await dialog(page).getByText('Runs of 2 of 2 jobs can be cancelled').waitFor();
      assert.ok(!await dialog(page).getByRole('checkbox', { name: 'Kill immediately' }).isChecked());
      await dialog(page).getByLabel('Reason (optional)').fill('moving');
      await dialog(page).getByRole('button', { name: 'Cancel runs' }).click();
      await dialog(page).getByText('2 done, 0 failed').waitFor();
    });
    for (const id of ['naps-1', 'naps-2']) await until(async () => (await states(id)).every((state) => state === 'CANCELLED'), 'all cancelled');
  });
});

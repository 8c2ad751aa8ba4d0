// Manual runs with other values than those of the job, started from the list, from the job and from a run.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { look, until, withServer } from '../support/server.mjs';

const { server, person } = withServer(async () => {
  await server.api('POST', 'jobs', { job_id: 'greets', name: 'Greets', command: 'echo "hello $CARILLON_PARAM_WHO"', parameters: { who: 'nobody', loud: false }, priority: 3 });
});

const dialog = (page) => page.locator('.dialog');
const runOf = async (page) => {
  await page.waitForURL('**/runs/*');
  await page.locator('h1 [data-state=COMPLETED]').waitFor();
  return server.api('GET', 'runs/' + page.url().split('/').pop());
};

describe('run with', () => {
  test('run with: the job page sends parameters, executor and priority and opens the run', async () => {
    const { items: [executor] } = await server.api('GET', 'executors');
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs/greets');
      await page.getByRole('button', { name: 'Run with…' }).click();
      const parameters = dialog(page).getByLabel('Parameters');
      assert.deepEqual(JSON.parse(await parameters.inputValue()), { who: 'nobody', loud: false });
      assert.deepEqual(await look(page, 'run with'), []);
      await parameters.fill('{"who": "anna", "loud": false}');
      await dialog(page).getByLabel('Executor').selectOption(executor.executor_id);
      await dialog(page).getByLabel('Priority').fill('40');
      await dialog(page).getByRole('button', { name: 'Run', exact: true }).click();
      const run = await runOf(page);
      assert.deepEqual([run.parameters, run.priority, run.executor_id], [{ who: 'anna' }, 40, executor.executor_id]);
      await page.getByText('hello anna').waitFor();
      assert.equal(await dialog(page).count(), 0);
    });
    assert.equal((await server.api('GET', 'jobs/greets')).version, 1);
  });

  test('run with: the run page begins with the values of its run', async () => {
    const { run_id: before } = await server.api('POST', 'jobs/greets/execute', { parameters: { who: 'bert' }, priority: 60 });
    await until(async () => (await server.api('GET', 'runs/' + before)).state === 'COMPLETED', 'the run');
    await person({}, async (page) => {
      await page.goto(server.url + '/runs/' + before);
      await page.getByRole('button', { name: 'Run again…' }).click();
      await dialog(page).getByRole('heading', { name: 'Run Greets again' }).waitFor();
      const parameters = dialog(page).getByLabel('Parameters');
      assert.deepEqual(JSON.parse(await parameters.inputValue()), { who: 'bert', loud: false });
      assert.equal(await dialog(page).getByLabel('Priority').inputValue(), '60');
      await parameters.fill('{"who": "bert", "loud": true}');
      await dialog(page).getByRole('button', { name: 'Run', exact: true }).click();
      await page.waitForURL((url) => !url.href.endsWith(before));
      const run = await runOf(page);
      assert.notEqual(run.run_id, before);
      assert.deepEqual([run.parameters, run.priority], [{ who: 'bert', loud: true }, 60]);
    });
  });

  test('run with: the list opens it by keyboard, and Escape restores the focus', async () => {
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs?q=greets');
      const more = page.getByRole('button', { name: 'More actions for Greets' });
      const choose = async () => {
        await more.focus();
        await page.keyboard.press('Enter');
        await page.getByRole('menuitem', { name: 'Run with…' }).focus();
        await page.keyboard.press('Enter');
        await dialog(page).getByLabel('Parameters').waitFor();
      };
      await choose();
      await page.keyboard.press('Escape');
      await dialog(page).waitFor({ state: 'detached' });
      await until(() => more.evaluate((one) => one === document.activeElement), 'the focus back');
      await choose();
      await dialog(page).getByLabel('Priority').focus();
      await page.keyboard.press('Enter');
      const run = await runOf(page);
      assert.deepEqual([run.parameters, run.priority], [{}, 3]);
    });
  });

  test('run with: a refused value is shown at its field', async () => {
    await person({ asked: ['/execute'] }, async (page) => {
      await page.goto(server.url + '/jobs/greets');
      await page.getByRole('button', { name: 'Run with…' }).click();
      const parameters = dialog(page).getByLabel('Parameters');
      await parameters.fill('{"who": "x"}');
      await dialog(page).getByRole('button', { name: 'Run', exact: true }).click();
      await dialog(page).getByText('changed but not removed: loud').waitFor();
      await parameters.fill('{"who": [1], "loud": true}');
      await dialog(page).getByRole('button', { name: 'Run', exact: true }).click();
      await dialog(page).locator('textarea[aria-invalid=true]').waitFor();
      assert.deepEqual(await look(page, 'refused'), []);
    });
  });

  test('run with: the dialog is in Chinese', async () => {
    await person({ locale: 'zh-CN' }, async (page) => {
      await page.goto(server.url + '/jobs/greets');
      await page.getByRole('button', { name: '指定参数运行…' }).click();
      await dialog(page).getByRole('button', { name: '运行', exact: true }).waitFor();
    });
  });
});

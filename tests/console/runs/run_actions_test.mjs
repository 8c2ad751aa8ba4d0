// Run, cancel and retry happen once, even if the button is pressed twice, or again because no answer came.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until, withServer } from '../support/server.mjs';

const { server, person } = withServer();
const job = (id, changes = {}) => server.api('POST', 'jobs', { job_id: id, name: 'Job ' + id, command: 'true', retry_count: 0, ...changes });
const runsOf = async (id) => (await server.api('GET', 'runs?job_id=' + id)).items;
const ended = (page) => page.locator('h1 [data-state=COMPLETED]').waitFor();
const stay = (page) => page.evaluate(() => { globalThis.notReloaded = true; });
const stayed = async (page) => assert.equal(await page.evaluate(() => globalThis.notReloaded), true, 'not reloaded');

// The places that the other tests leave out: {name: [path, action, job]}.
const PLACES = {
  overview: ['/', (page) => page.getByRole('button', { name: 'Run overview now' }).dblclick(), { cron_expression: '* * * * *', name: 'overview' }],
  dialog: ['/jobs/dialog', async (page) => {
    await page.getByRole('button', { name: 'Run with…' }).click();
    await page.locator('.dialog').getByRole('button', { name: 'Run', exact: true }).dblclick();
  }],
};

describe('run now', () => {
  for (const [id, [path, press, changes]] of Object.entries(PLACES)) {
    test(`run now: a double click starts one run and opens it without a reload: ${id}`, async () => {
      await job(id, changes);
      await person({ asked: ['/execute'] }, async (page) => {
        await page.goto(server.url + path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await stay(page);
        await press(page);
        await page.waitForURL('**/runs/*');
        await ended(page);
        await stayed(page);
      });
      assert.equal((await runsOf(id)).filter((one) => one.kind === 'manual').length, 1);
    });
  }

  test('run now: a press after a lost answer is the same run', async () => {
    await job('lost');
    await person({ asked: ['/execute'] }, async (page) => {
      await page.route('**/api/jobs/lost/execute', async (route) => {
        await route.fetch();
        await route.abort();
      }, { times: 1 });
      await page.goto(server.url + '/jobs/lost');
      await page.getByRole('button', { name: 'Run now' }).click();
      await page.getByText('The run was not started').first().waitFor();
      const [made] = await runsOf('lost');
      await page.getByRole('button', { name: 'Run now' }).click();
      await page.waitForURL('**/runs/' + made.run_id);
      await ended(page);
      // After an answer, the next press starts another run.
      await page.goto(server.url + '/jobs/lost');
      await page.getByRole('button', { name: 'Run now' }).click();
      await page.waitForURL('**/runs/*');
      await ended(page);
    });
    assert.equal((await runsOf('lost')).length, 2);
  });
});

describe('a run', () => {
  const POLITE = "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.1; done";

  test('a cancel pressed twice is not a kill, and a retry is the second attempt', async () => {
    await job('polite', { kill_grace: 60, command: `test "$CARILLON_ATTEMPT" = 2 && exit 0; ${POLITE}` });
    const { run_id } = await server.api('POST', 'jobs/polite/execute', {});
    await person({ asked: ['/cancel'] }, async (page) => {
      await page.goto(server.url + '/runs/' + run_id);
      await page.getByRole('log').getByText('up').waitFor();
      await stay(page);
      await page.getByRole('button', { name: 'Cancel run' }).dblclick();
      await page.locator('h1 [data-state=CANCELLED]').waitFor();
      await page.getByRole('log').getByText('bye').waitFor();
      const run = await server.api('GET', 'runs/' + run_id);
      assert.equal(run.attempt, 1);
      assert.doesNotMatch(run.error ?? '', /killed/);
      // The second click may hit the button that has replaced the first one, which asks for a confirmation.
      const question = page.locator('.dialog');
      if (await question.count()) await question.getByRole('button', { name: 'Cancel' }).click();

      await page.getByRole('button', { name: 'Retry' }).click();
      await ended(page);
      await stayed(page);
    });
    const run = await server.api('GET', 'runs/' + run_id);
    assert.deepEqual([run.state, run.attempt, run.attempts.map((one) => one.state)], ['COMPLETED', 2, ['CANCELLED', 'COMPLETED']]);
  });

  test('a retry without an answer is still followed', async () => {
    await job('flaky', { command: 'test "$CARILLON_ATTEMPT" -ge 2' });
    const { run_id } = await server.api('POST', 'jobs/flaky/execute', {});
    await until(async () => (await server.api('GET', 'runs/' + run_id)).state === 'FAILED', 'its failure');
    await person({ asked: ['/retry'] }, async (page) => {
      await page.goto(server.url + '/runs/' + run_id);
      await page.route('**/retry', async (route) => {
        await route.fetch();
        await route.abort();
      }, { times: 1 });
      await page.getByRole('button', { name: 'Retry' }).click();
      await ended(page);
    });
    const run = await server.api('GET', 'runs/' + run_id);
    assert.deepEqual([run.attempt, run.attempts.length], [2, 2]);
  });
});

// Times that the form previews: they must be the times of the runs that follow.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until, withServer } from '../support/server.mjs';

const FIRES = 5;
const HOUR_MS = 3_600_000;
const TOKYO_MS = 9 * HOUR_MS;

const { server, person } = withServer();

const shown = (page) => page.locator('[data-fire]').evaluateAll((all) => all.map((one) => one.dataset.fire));
const at = (time) => Date.parse(time);

describe('the fires of the form', () => {
  test('the previewed fires follow the zone and happen as promised', async () => {
    // Every two seconds in this hour and the next, in Tokyo's time. Read as UTC, these hours are nine hours away.
    const hour = new Date(Date.now() + TOKYO_MS).getUTCHours();
    const cron = `*/2 * ${hour},${(hour + 1) % 24} * * *`;
    await server.api('POST', 'jobs', { job_id: 'zoned', name: 'Zoned', command: 'true', cron_expression: cron, time_zone: 'UTC' });
    let promised;
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs/zoned/edit');
      await until(async () => (await shown(page)).length === FIRES, 'the fires in UTC');
      assert.ok(Date.parse((await shown(page))[0]) - Date.now() > HOUR_MS, 'none is near in UTC');
      await page.getByLabel('Time zone', { exact: true }).fill('Asia/Tokyo');
      await until(async () => Date.parse((await shown(page))[0]) - Date.now() < HOUR_MS / 60, 'the fires in Tokyo');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.waitForURL(/\/jobs\/zoned$/);
      // Only now the schedule is saved, so the fires that are shown from here on must happen.
      await page.goto(server.url + '/jobs/zoned/edit');
      await until(async () => (await shown(page)).length === FIRES, 'the fires as saved');
      promised = await shown(page);
    });
    const runs = await until(async () => {
      const { items } = await server.api('GET', 'runs?job_id=zoned&page_size=100');
      return items.some((run) => at(run.fire_time) > at(promised.at(-1))) && items;
    }, 'a run after the last that was promised');
    await server.api('POST', 'jobs/zoned/pause', {});
    const between = runs.map((run) => run.fire_time).sort()
      .filter((time) => at(time) >= at(promised[0]) && at(time) <= at(promised.at(-1)));
    assert.deepEqual(between, promised);
  });

  test('an invalid cron expression shows no fires and names the column', async () => {
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs/new');
      const cron = page.getByLabel('Cron expression');
      for (const [text, place] of [['61 2 * * *', 1], ['0 3 * 13 *', 7], ['0 3 * * MOX', 9]]) {
        await cron.fill(text);
        await page.getByText(new RegExp(`column ${place}`)).waitFor();
        assert.equal(await cron.getAttribute('aria-invalid'), 'true');
        assert.deepEqual(await shown(page), []);
      }
    });
  });
});

describe('a run that failed', () => {
  test('a failed run is retried by one click and keeps its first attempt', async () => {
    await server.api('POST', 'jobs', { job_id: 'second', name: 'Second', command: 'echo "try $CARILLON_ATTEMPT"; test "$CARILLON_ATTEMPT" = 2' });
    const { run_id } = await server.api('POST', 'jobs/second/execute', {});
    await person({ asked: ['/retry'] }, async (page) => {
      await page.goto(server.url + '/runs/' + run_id);
      await page.locator('h1 [data-state=FAILED]').waitFor();
      // An impatient double click must still add only one attempt.
      await page.getByRole('button', { name: 'Retry' }).dblclick();
      await page.locator('h1 [data-state=COMPLETED]').waitFor();
      await page.getByRole('log').getByText('try 2').waitFor();
      assert.equal(await page.locator('.dialog').count(), 0);
    });
    const run = await server.api('GET', 'runs/' + run_id);
    assert.deepEqual([run.state, run.attempt, run.attempts.length], ['COMPLETED', 2, 2]);
    assert.equal((await server.api('GET', 'runs?job_id=second')).items.length, 1);
  });

  test('a double click on “Run now” of the job page starts one run', async () => {
    await server.api('POST', 'jobs', { job_id: 'once', name: 'Once', command: 'true' });
    await person({ asked: ['/execute'] }, async (page) => {
      await page.goto(server.url + '/jobs/once');
      await page.getByRole('button', { name: 'Run now' }).dblclick();
      await page.waitForURL('**/runs/*');
      await page.locator('h1 [data-state=COMPLETED]').waitFor();
    });
    assert.equal((await server.api('GET', 'runs?job_id=once')).items.length, 1);
  });
});

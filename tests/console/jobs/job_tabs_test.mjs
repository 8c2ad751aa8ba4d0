// The tabs of a job: versions, the reasons why it did or did not run, durations and failed runs, in a real browser
// against a real server.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heading, until, withServer } from '../support/server.mjs';

const { server, person } = withServer(async () => {
  await server.api('POST', 'jobs', { job_id: 'aged', name: 'Aged', command: 'true', priority: 1 });
  await server.api('PATCH', 'jobs/aged', { priority: 2 }, { 'If-Match': '"v1"' });
  await server.api('PATCH', 'jobs/aged', { priority: 3, description: 'third' }, { 'If-Match': '"v2"' });
});
const at = (path, options, body) => person(options, async (page) => {
  await page.goto(server.url + path);
  await body(page);
});

describe('versions', () => {
  test('versions: authors are listed, and the link of a comparison shows the same', async () => {
    await at('/jobs/aged', {}, async (page) => {
      await page.getByRole('button', { name: 'Versions' }).click();
      await page.locator('[data-row=v3]').waitFor();
      assert.match(await page.locator('[data-row=v2]').innerText(), /priority\s+1 → 2/);
      assert.match(await page.locator('[data-row=v1]').innerText(), /Created/);
      await page.getByLabel('Compare version 1').check();
      await page.getByLabel('Compare version 3').check();
      await page.getByRole('heading', { name: 'From v1 to v3' }).waitFor();
      const row = page.locator('tr', { hasText: 'description' }).first();
      await row.waitFor();
      await page.reload();
      await page.getByRole('heading', { name: 'From v1 to v3' }).waitFor();
      assert.ok(await page.getByLabel('Compare version 1').isChecked());
      await page.getByLabel('Compare version 2').check();
      await page.getByRole('heading', { name: 'From v2 to v3' }).or(page.getByRole('heading', { name: 'From v1 to v2' })).waitFor();
    });
  });

  test('versions: a revert asks first and sends a reason for the audit', async () => {
    await at('/jobs/aged?tab=versions', {}, async (page) => {
      await page.getByRole('button', { name: 'Revert to version 1' }).click();
      const dialog = page.locator('.dialog');
      await dialog.getByLabel('Reason (optional)').fill('too early');
      await dialog.getByRole('button', { name: 'Revert' }).click();
      await page.locator('[data-row=v4]').waitFor();
      const job = await server.api('GET', 'jobs/aged');
      assert.deepEqual([job.version, job.priority, job.description], [4, 1, '']);
      const [entry] = (await server.api('GET', 'audit?object_id=aged')).items;
      assert.deepEqual([entry.action, entry.reason], ['job.revert', 'too early']);
    });
  });

  test('versions: a revert is refused after a change by somebody else', async () => {
    await at('/jobs/aged?tab=versions', { asked: ['/revert'] }, async (page) => {
      await page.getByRole('button', { name: 'Pause updates' }).click();
      await page.getByRole('button', { name: 'Revert to version 2' }).click();
      const before = await server.api('GET', 'jobs/aged');
      await server.api('PATCH', 'jobs/aged', { priority: 9 }, { 'If-Match': `"v${before.version}"` });
      const dialog = page.locator('.dialog');
      await dialog.getByRole('button', { name: 'Revert' }).click();
      await dialog.getByRole('alert').waitFor();
      assert.equal((await server.api('GET', 'jobs/aged')).priority, 9);
    });
  });
});

describe('run lookup', () => {
  test('run lookup: a minute in the job’s zone is answered with the run or the reason', async () => {
    await server.api('POST', 'jobs', { job_id: 'ticker', name: 'Ticker', command: 'true', cron_expression: '* * * * * *', time_zone: 'Asia/Kolkata' });
    const run = await until(async () => (await server.api('GET', 'runs?job_id=ticker&state=COMPLETED')).items[0], 'a run');
    await at('/jobs/ticker?tab=why&at=' + run.fire_time, {}, async (page) => {
      await page.getByRole('heading', { name: 'Ran', exact: true }).waitFor();
      await page.locator('a[href*="/runs/"]').last().waitFor();
      // The field shows the time in the zone, which is five and a half hours ahead of UTC.
      const shown = await page.getByLabel('Minute (Asia/Kolkata)').inputValue();
      assert.equal(Date.parse(shown + ':00+05:30'), Math.floor(Date.parse(run.fire_time) / 60_000) * 60_000);
      await page.getByLabel('Minute (Asia/Kolkata)').fill('2020-01-01T12:00');
      await page.getByRole('button', { name: 'Check', exact: true }).click();
      await page.getByRole('heading', { name: 'The job did not exist yet' }).waitFor();
      assert.equal(new URL(page.url()).searchParams.get('at'), '2020-01-01T06:30:00.000Z');
      await page.goBack();
      await page.getByRole('heading', { name: 'Ran', exact: true }).waitFor();
    });
  });

  test('run lookup: an invalid time is refused', async () => {
    await at('/jobs/ticker?tab=why&at=soon', { asked: ['/why'] }, async (page) => {
      await page.getByText('Could not load this').waitFor();
      await page.getByLabel('Minute (Asia/Kolkata)').fill('');
      await page.getByRole('button', { name: 'Check', exact: true }).click();
      await page.getByText('Enter a date and time.').waitFor();
      await heading(page, /Ticker/);
    });
  });
});

describe('charts', () => {
  test('charts: a failure hour links to its runs, and durations have a table', async () => {
    await server.api('POST', 'jobs', { job_id: 'breaks', name: 'Breaks', command: 'exit 3' });
    for (let i = 0; i < 3; ++i) await server.api('POST', 'jobs/breaks/execute', {});
    const failed = await until(async () => {
      const { items } = await server.api('GET', 'runs?job_id=breaks&state=FAILED');
      return items.length === 3 && items;
    }, 'three failures');
    await at('/', {}, async (page) => {
      const hour = new Date(failed[0].fire_time).getUTCHours();
      const day = failed[0].fire_time.slice(0, 10);
      const inHour = failed.filter((run) => new Date(run.fire_time).getUTCHours() === hour).length;
      await page.getByTestId('failures').getByRole('link', { name: `${day}, hour ${hour}: ${inHour} failures` }).click();
      await heading(page, 'Runs');
      await until(async () => (await page.locator('tbody tr').count()) === inHour, 'the runs of the hour');
    });
    await at('/jobs/breaks', {}, async (page) => {
      await page.getByTestId('durations').waitFor();
      assert.equal(await page.getByTestId('durations').locator('rect').count(), 3);
      await page.getByText('As a table').first().click();
      await page.getByRole('region', { name: 'As a table' }).getByRole('link').first().waitFor();
    });
  });
});

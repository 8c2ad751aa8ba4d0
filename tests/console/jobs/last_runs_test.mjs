// The last runs of each job as bars, in a real browser against a real server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heading, look, until, withServer } from '../support/server.mjs';

const { server, person } = withServer(async () => {
  await server.api('POST', 'jobs', { job_id: 'good', name: 'Good', command: 'true' });
  await server.api('POST', 'jobs', { job_id: 'bad', name: 'Bad', command: 'exit 3', retry_count: 0 });
  for (const id of ['good', 'good', 'bad']) await server.api('POST', `jobs/${id}/execute`, {});
  await until(async () => (await server.api('GET', 'runs?state=COMPLETED&state=FAILED')).items.length === 3, 'their runs');
});
const strip = (page, name) => page.getByRole('list', { name: 'Last runs of ' + name });

for (const theme of ['light', 'dark']) {
  test(`the last runs in the job list grow by themselves and link to the run, ${theme}`, async () => {
    await person({ theme }, async (page) => {
      await page.goto(server.url + '/jobs');
      await strip(page, 'Bad').getByRole('link', { name: /^Failed/ }).first().waitFor();
      const had = await strip(page, 'Good').getByRole('link').count();
      assert.ok(had >= 2);
      assert.deepEqual(await look(page, 'jobs'), []);
      await server.api('POST', 'jobs/good/execute', {});
      await until(async () => (await strip(page, 'Good').getByRole('link', { name: /^Completed/ }).count()) === had + 1, 'the new run');
      await strip(page, 'Bad').getByRole('link').first().focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/runs\//);
      await heading(page, /Bad/);
    });
  });
}

test('the last runs are not requested for a hidden column, and are on the job page', async () => {
  await person({}, async (page) => {
    await page.goto(server.url + '/jobs');
    await strip(page, 'Good').waitFor();
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByLabel('Last result', { exact: true }).uncheck();
    await page.getByLabel('Last runs', { exact: true }).uncheck();
    await strip(page, 'Good').waitFor({ state: 'detached' });
    const asked = [];
    page.on('request', (request) => request.url().includes('recent-runs') && asked.push(request.url()));
    await page.reload();
    await page.locator('tr', { hasText: 'Good' }).first().waitFor();
    assert.deepEqual(asked, []);
    await page.getByRole('link', { name: 'Good', exact: true }).click();
    await page.getByRole('region', { name: 'Last 20 runs' }).or(page.getByRole('heading', { name: 'Last 20 runs' })).first().waitFor();
    await strip(page, 'Good').waitFor();
    assert.deepEqual(await look(page, 'job'), []);
  });
});

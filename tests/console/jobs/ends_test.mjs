// The calendar of a job's results, in a real browser against a real server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heading, look, until, withServer } from '../support/server.mjs';

const { server, person } = withServer(async () => {
  await server.api('POST', 'jobs', { job_id: 'mixed', name: 'Mixed', command: 'true' });
  for (let i = 0; i < 3; ++i) await server.api('POST', 'jobs/mixed/execute', {});
  await until(async () => (await server.api('GET', 'runs?job_id=mixed&state=COMPLETED')).items.length === 3, 'three good runs');
  await server.api('PATCH', 'jobs/mixed', { command: 'exit 3' }, { 'If-Match': '"v1"' });
  await server.api('POST', 'jobs/mixed/execute', {});
  await until(async () => (await server.api('GET', 'runs?job_id=mixed&state=FAILED')).items.length === 1, 'a failure');
  await server.api('POST', 'jobs', { job_id: 'fresh', name: 'Fresh', command: 'true' });
});

test('the job page shows the success share, and a day of the calendar links to its runs', async () => {
  await person({}, async (page) => {
    await page.goto(server.url + '/jobs/mixed');
    await page.getByTestId('success').getByText('75% of the last 4 finished runs succeeded.').waitFor();
    await page.getByTestId('ends-sum').getByText('75% of 4 runs succeeded.', { exact: false }).waitFor();
    assert.deepEqual(await look(page, 'a job'), []);
    await page.getByText('As a table').last().click();
    const day = page.getByRole('link', { name: /: 4 runs, 1 failed$/ });
    const date = (await day.getAttribute('aria-label')).slice(0, 10);
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: date }) });
    assert.deepEqual(await row.getByRole('cell').allTextContents(), ['3', '1']);
    await day.click();
    await heading(page, 'Runs');
    await until(async () => (await page.locator('tbody tr').count()) === 4, 'its runs');
  });
});

test('the outcome calendar says how far it was read, in Chinese, on a phone', async () => {
  await person({ locale: 'zh-CN', width: 360, theme: 'dark' }, async (page) => {
    // Plays a job with so many runs that there is always another page.
    const some = (await server.api('GET', 'runs?job_id=mixed&page_size=2')).items;
    await page.route('**/api/runs?job_id=mixed&state=COMPLETED&state=FAILED&state=TIMED_OUT&state=LOST**', (route) =>
      route.fulfill({ json: { items: some, next_page_token: 'more' } }));
    await page.goto(server.url + '/jobs/mixed');
    await page.getByText('仅包含最近的 8 次运行', { exact: false }).waitFor();
    assert.ok(await page.getByTitle('未包含').count() > 70);
    assert.deepEqual(await look(page, 'a bound'), []);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wide <= 0, `${wide} px too wide`);
  });
});

test('a job that never ran has no outcome calendar', async () => {
  await person({}, async (page) => {
    await page.goto(server.url + '/jobs?q=Fresh');
    await page.getByRole('link', { name: 'Fresh', exact: true }).click();
    await page.getByText('No runs yet').waitFor();
    await until(async () => (await page.getByText('Loading…').count()) === 0, 'the page');
    assert.equal(await page.getByTestId('ends').count(), 0);
    assert.equal(await page.getByTestId('success').count(), 0);
  });
});

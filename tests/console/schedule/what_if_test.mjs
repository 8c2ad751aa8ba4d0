// The effect of a pause on the schedule page, in a real browser against a real server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heading, look, withServer } from '../support/server.mjs';

const { server, person } = withServer(async () => {
  await server.api('POST', 'jobs', { job_id: 'often', name: 'Often', command: 'true', cron_expression: '*/10 * * * *' });
  for (let i = 10; i < 34; ++i) await server.api('POST', 'jobs', { job_id: 'three-' + i, name: 'Three ' + i, command: 'true', cron_expression: '30 3 * * *' });
});
const WINDOW = 'pause_from=2099-03-02T03%3A15%3A00.000Z&pause_until=2099-03-02T05%3A15%3A00.000Z';

test('the what-if preview counts skipped fires as the scheduler does and changes nothing', async () => {
  await person({}, async (page) => {
    await page.goto(server.url + '/schedule?date=2099-03-02&zone=UTC');
    await page.getByLabel('Pause start (UTC)').fill('2099-03-02T03:15');
    await page.getByLabel('Pause end (UTC)').fill('2099-03-02T03:00');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('The end must be after the start.').waitFor();
    assert.deepEqual(await look(page, 'a window that is none'), []);
    await page.getByLabel('Pause end (UTC)').fill('2099-03-02T05:15');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.waitForURL('**' + WINDOW);
    // One job fires twelve times, and each of the others once.
    await page.getByTestId('what-if').getByText('36 fires of 25 jobs would be skipped.').waitFor();
    const load = await server.api('GET', `schedules/load?from=2099-03-02T03:15:00Z&until=2099-03-02T05:15:00Z&bucket=hour&by_job=true`);
    assert.equal(load.buckets.reduce((sum, one) => sum + one.fires, 0), 36);
    const rows = (id) => page.getByTestId(id).locator('tbody tr').allInnerTexts().then((all) => all.map((one) => one.replace(/\s+/g, ' ').trim()));
    assert.deepEqual(await rows('what-if-hours'), ['2099-03-02 03:15 30', '2099-03-02 04:15 6']);
    const jobs = await rows('what-if-jobs');
    assert.equal(jobs.length, 20);
    assert.ok(jobs.includes('Often 12'));
    await page.getByText('and 5 more jobs').waitFor();
    assert.deepEqual(await look(page, 'what if'), []);
    assert.equal((await server.api('GET', 'system/status')).paused, null);
    assert.equal((await server.api('GET', 'jobs/often')).state, 'ENABLED');
    // The planned pause stays when the view or the time zone is changed.
    await page.getByRole('button', { name: 'Week' }).click();
    await page.waitForURL('**view=week**');
    await page.getByLabel('Time zone', { exact: true }).fill('Asia/Tokyo');
    assert.equal(await page.getByLabel('Pause start (Asia/Tokyo)').inputValue(), '2099-03-02T12:15');
    await page.getByTestId('what-if').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByTestId('what-if').waitFor({ state: 'detached' });
    assert.doesNotMatch(page.url(), /pause_/);
  });
});

test('the what-if preview opens by its address, in Chinese, on a phone', async () => {
  await person({ locale: 'zh-CN', width: 360, theme: 'dark' }, async (page) => {
    await page.goto(server.url + `/schedule?date=2099-03-02&zone=UTC&${WINDOW}`);
    await heading(page, '日程');
    await page.getByText('25 个任务的 36 次触发会被跳过。').waitFor();
    await page.getByText('这只是预览', { exact: false }).waitFor();
    assert.deepEqual(await look(page, 'what if, dark'), []);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wide <= 0, `${wide} px too wide`);
    await page.goto(server.url + '/schedule?zone=UTC&pause_from=2099-03-02T03:15:10Z&pause_until=2099-03-02T03:15:20Z');
    await page.getByText('该时段内没有触发。').waitFor();
  });
});

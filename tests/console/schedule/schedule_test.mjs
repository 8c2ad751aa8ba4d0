// The schedule page and the hints of the job form, in a real browser against a real server.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heading, until, withServer } from '../support/server.mjs';

const { server, person } = withServer();
const at = (path, options, body) => person(options, async (page) => {
  await page.goto(server.url + path);
  await body(page);
});

describe('the schedule page', () => {
  test('the empty schedule says how to begin', async () => {
    await at('/schedule', {}, async (page) => {
      await heading(page, 'Schedule');
      await page.getByText('No jobs yet').waitFor();
      await page.getByRole('main').getByRole('link', { name: 'New job' }).waitFor();
    });
  });

  test('the schedule shows the API’s numbers in the chosen zone, and an hour lists its jobs', async () => {
    for (let i = 0; i < 6; ++i) {
      await server.api('POST', 'jobs', { job_id: 'three-' + i, name: 'Three ' + i, command: 'true', cron_expression: '0 3 * * *', time_zone: 'Europe/Paris' });
    }
    await server.api('POST', 'jobs', { job_id: 'often', name: 'Often', command: 'true', cron_expression: '*/10 * * * *' });
    await at('/schedule?date=2099-03-02&zone=Europe%2FParis', {}, async (page) => {
      await page.getByRole('link', { name: 'Often' }).waitFor();
      const load = await server.api('GET', 'schedules/load?from=2099-03-01T23:00:00Z&until=2099-03-02T23:00:00Z&bucket=minute');
      assert.equal(load.busiest.fires, 7);
      const sum = load.buckets.reduce((all, one) => all + one.fires, 0);
      await page.getByText(`${sum} fires of 7 jobs.`).waitFor();
      await page.getByText('Busiest minute: 2099-03-02 03:00 with 7 fires.').waitFor();
      const path = await page.getByTestId('density').locator('path').getAttribute('d');
      assert.equal(path.split('M').length - 1, load.buckets.filter((one) => one.fires > 0).length);
      await page.getByRole('link', { name: '03:00: 12 fires' }).click();
      const hour = page.getByTestId('hour');
      await hour.getByRole('link', { name: 'Three 5' }).waitFor();
      assert.equal(await hour.locator('tbody tr').count(), 7);
      await hour.getByRole('link', { name: 'Three 5' }).click();
      await heading(page, /Three 5/);
      await page.goBack();
      await hour.waitFor();
    });
  });

  test('the schedule keeps day and week in the URL', async () => {
    await at('/schedule?date=2099-03-02&zone=UTC', {}, async (page) => {
      await page.getByRole('button', { name: 'Week' }).click();
      await page.waitForURL('**view=week**');
      await page.getByRole('link', { name: '2099-03-05 02:00: 12 fires' }).waitFor();
      await page.getByRole('button', { name: 'Next', exact: true }).click();
      await page.waitForURL('**date=2099-03-09**');
      await page.getByRole('link', { name: '2099-03-12 02:00: 12 fires' }).click();
      await page.getByRole('heading', { name: 'Hour from 2099-03-12 02:00' }).waitFor();
      const zone = page.getByLabel('Time zone', { exact: true });
      await zone.fill('Atlantis');
      assert.equal(await zone.getAttribute('aria-invalid'), 'true');
      await zone.fill('Asia/Tokyo');
      await page.getByRole('link', { name: '2099-03-12 11:00: 12 fires' }).waitFor();
      await page.goBack();
      await page.getByRole('button', { name: 'Today' }).click();
      await page.getByRole('button', { name: 'Today', disabled: true }).waitFor();
    });
  });

  test('the schedule reports a failed load and retries it', async () => {
    await person({ asked: ['/api/schedules'] }, async (page) => {
      await page.route('**/api/schedules/load**', (route) => route.fulfill({
        status: 400, contentType: 'application/problem+json', body: JSON.stringify({ code: 'invalid', detail: 'no', errors: [] }),
      }));
      await page.goto(server.url + '/schedule');
      await page.getByText('Could not load this').waitFor();
      await page.unroute('**/api/schedules/load**');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('link', { name: 'Often' }).waitFor();
    });
  });
});

describe('hints of the form', () => {
  test('the form shows hints with the preview and still creates the job', async () => {
    await at('/jobs/new', {}, async (page) => {
      await page.getByLabel('Name', { exact: true }).fill('Hinted');
      await page.getByLabel('Command').fill('true');
      const cron = page.getByLabel('Cron expression');
      const hints = () => page.locator('[data-hint]').evaluateAll((all) => all.map((one) => one.dataset.hint).join(' '));
      await cron.fill('0 0 13 * FRI');
      await until(async () => (await hints()) === 'either_day_field', 'the hint');
      await cron.fill('0 1 * * *');
      await until(async () => (await hints()) === '', 'no hint');
      await cron.fill('0 2 * * *');
      await page.getByLabel('Time zone', { exact: true }).fill('Europe/Paris');
      await until(async () => (await hints()) === 'hour_in_gap', 'the hour that is skipped');
      const answered = page.waitForResponse((one) => one.url().endsWith('/schedules/preview') && one.request().postData()?.includes('30 2 * 3 SUN'));
      await cron.fill('30 2 * 3 SUN'); // on the last Sunday of March the clock is moved
      await answered;
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
      assert.equal(await page.getByTestId('skipped').count(), 0);
      await page.getByText('Missed fires, overlap, daylight saving').click();
      await page.getByLabel('Skipped local time (DST)').selectOption('skip');
      await page.getByTestId('skipped').getByText('this local time does not exist on that day').first().waitFor();
      await page.getByLabel('Skipped local time (DST)').selectOption('fire');
      await page.getByTestId('skipped').waitFor({ state: 'detached' });
      await cron.fill('0 3 * * *');
      await until(async () => (await hints()) === 'crowded_minute', 'the other jobs');
      await page.getByText(/other jobs fire in the minute/).waitFor();
      await page.getByRole('button', { name: 'Create job' }).click();
      await heading(page, /Hinted/);
    });
  });
});

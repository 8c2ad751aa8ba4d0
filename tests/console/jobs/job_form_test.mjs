// The job form beyond its simple fields: several schedules, retries, misfires, the owner.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heading, look, signIn, until, withServer } from '../support/server.mjs';

const password = 'correct horse battery';
const { server, person, guest } = withServer(async () => {
  for (const [name, role] of [['anna', 'admin'], ['uma', 'user']]) await server.api('POST', 'users', { name, role, password });
});

const save = async (page) => {
  await page.getByRole('button', { name: /^(Save|Create job)$/ }).click();
  await page.waitForURL((url) => /\/jobs\/[^/]+$/.test(url.pathname) && !url.pathname.endsWith('/new'));
};

describe('several schedules', () => {
  test('the form adds two schedules to one, and the preview shows the fires of all', async () => {
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs/new');
      await page.getByLabel('Name', { exact: true }).fill('Often');
      await page.getByLabel('Command').fill('true');
      await page.getByLabel('Cron expression').fill('0 3 * * *');
      await page.getByRole('button', { name: 'Add a schedule' }).click();
      assert.equal(await page.getByLabel('Cron expression of schedule 1').inputValue(), '0 3 * * *');
      await page.getByLabel('Cron expression of schedule 2').fill('30 4 * * MON');
      await page.getByLabel('Time zone of schedule 2').fill('Asia/Tokyo');
      await page.getByRole('button', { name: 'Add a schedule' }).focus();
      await page.keyboard.press('Enter');
      const kind = page.getByLabel('Schedule 3', { exact: true });
      await until(() => kind.evaluate((one) => one === document.activeElement), 'the focus on the new one');
      await kind.selectOption('rate');
      await page.getByLabel('Interval of schedule 3 (seconds)').fill('90');
      await until(async () => (await page.locator('[data-fire]').count()) === 5, 'the fires');
      assert.deepEqual(await look(page, 'several'), []);
      await save(page);
    });
    const { items: [job] } = await server.api('GET', 'jobs?q=Often');
    assert.deepEqual(job.schedules.map(({ schedule_id: _id, ...rest }) => rest), [
      { kind: 'cron', cron_expression: '0 3 * * *', time_zone: 'UTC' },
      { kind: 'cron', cron_expression: '30 4 * * MON', time_zone: 'Asia/Tokyo' },
      { kind: 'rate', every_ms: 90_000, start_time: '1970-01-01T00:00:00.000000Z' },
    ]);
  });

  test('the form shows refusals of a schedule at its row and removes a row', async () => {
    await server.api('POST', 'jobs', { job_id: 'two', name: 'Two', command: 'true', schedules: [{ kind: 'cron', cron_expression: '0 3 * * *' }, { kind: 'once', at: '2099-01-01T00:00:00Z' }] });
    await person({ asked: ['/api/jobs/two'] }, async (page) => {
      await page.goto(server.url + '/jobs/two/edit');
      const second = page.getByLabel('Time of schedule 2');
      assert.equal(await second.inputValue(), '2099-01-01T00:00:00.000000Z');
      await second.fill('');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('input[aria-invalid=true]').waitFor();
      assert.equal(await second.getAttribute('aria-invalid'), 'true');
      await second.fill('2099-02-01T00:00:00Z');
      await page.getByLabel('Cron expression of schedule 1').fill('61 * * * *');
      await page.getByRole('button', { name: 'Save' }).click();
      await until(async () => (await page.getByLabel('Cron expression of schedule 1').getAttribute('aria-invalid')) === 'true', 'the refusal at its field');
      await until(async () => (await second.getAttribute('aria-invalid')) === null, 'the other one to be good');
      await page.getByRole('button', { name: 'Remove schedule 1' }).click();
      assert.equal(await page.getByTestId('schedule').count(), 1);
      await save(page);
    });
    const job = await server.api('GET', 'jobs/two');
    assert.deepEqual(job.schedules.map((one) => [one.kind, one.at]), [['once', '2099-02-01T00:00:00.000000Z']]);
  });

  test('the form shows a rate as one field', async () => {
    await server.api('POST', 'jobs', { job_id: 'rate', name: 'Rate', command: 'true', schedules: [{ kind: 'rate', every_ms: 5000 }] });
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs/rate/edit');
      assert.equal(await page.getByLabel('Interval (seconds)').inputValue(), '5');
    });
  });
});

describe('the other fields', () => {
  test('the form stores retries and misfire settings and changes nothing else', async () => {
    const before = await server.api('POST', 'jobs', {
      job_id: 'rich', name: 'Rich', command: 'true', cron_expression: '0 3 * * *', notify: { on: ['failed'] }, env: { A: '1' }, labels: { team: 'etl' }, dst_gap: 'skip', on_lost: 'hold',
    });
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs/rich/edit');
      await page.getByLabel('Delays per retry (seconds)').fill('10, x');
      await page.getByText('Missed fires, overlap, daylight saving').click();
      await page.getByLabel('Misfire grace (seconds)').fill('5');
      await page.getByLabel('Catch-up window (seconds)').fill('7200');
      await page.getByLabel('Max. catch-up runs').fill('3');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('whole numbers up to 86400').waitFor();
      await page.getByLabel('Delays per retry (seconds)').fill('10, 60');
      assert.deepEqual(await look(page, 'the form'), []);
      await save(page);
    });
    const { version, update_time: _now, next_fire_time: _next, ...job } = await server.api('GET', 'jobs/rich');
    const { version: _before, update_time: _then, next_fire_time: _was, ...was } = before;
    assert.equal(version, 2);
    assert.deepEqual(job, { ...was, retry_intervals: [10, 60], misfire_grace: 5, catch_up_window: 7200, catch_up_max: 3 });
  });

  test('the form offers the owner only to people who may read users', async () => {
    const { items } = await server.api('GET', 'users');
    const uma = items.find((one) => one.name === 'uma');
    await server.api('POST', 'jobs', { job_id: 'given', name: 'Given', command: 'true' });
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs/given/edit');
      await page.getByText('Labels, environment, parameters').click();
      await page.getByLabel('Owner').selectOption('uma');
      await save(page);
    });
    assert.equal((await server.api('GET', 'jobs/given')).user_id, uma.user_id);
    await guest({ asked: ['/api/auth/'] }, async (page) => {
      await page.goto(server.url + '/jobs/given/edit');
      await signIn(page, 'uma', password);
      await heading(page, 'Edit Given');
      await page.getByText('Labels, environment, parameters').click();
      await page.getByLabel('Labels', { exact: true }).waitFor();
      assert.equal(await page.getByLabel('Owner').count(), 0);
      await page.getByLabel('Description').fill('mine now');
      await save(page);
    });
    const given = await server.api('GET', 'jobs/given');
    assert.deepEqual([given.user_id, given.description], [uma.user_id, 'mine now']);
  });

  test('the form fits a phone in Chinese', async () => {
    await person({ width: 360, locale: 'zh-CN' }, async (page) => {
      await page.goto(server.url + '/jobs/new');
      await page.getByRole('button', { name: '添加计划' }).click();
      await page.getByLabel('计划 1', { exact: true }).waitFor();
      assert.deepEqual(await look(page, 'phone'), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'no sideways scrolling');
    });
  });
});

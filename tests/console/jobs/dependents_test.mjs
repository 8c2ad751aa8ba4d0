// A job that starts after another one, or waits for its runs: made in the form, started by a run, shown on both jobs, and in
// the way of a delete.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heading, look, until, withServer } from '../support/server.mjs';

const { server, person } = withServer(async () => {
  await server.api('POST', 'jobs', { job_id: 'load', name: 'Load orders', command: 'true' });
  await server.api('POST', 'jobs', { job_id: 'breaks', name: 'Breaks', command: 'exit 3' });
});
const make = (id, name, schedule) =>
  server.api('POST', 'jobs', { job_id: id, name, command: 'true', schedules: [{ kind: 'after', ...schedule }] });
const runOf = (id) => until(async () => (await server.api('GET', `runs?job_id=${id}&state=COMPLETED`)).items[0], 'a run of ' + id);
const inList = (page, name) => page.getByRole('list', { name, exact: true }).getByRole('listitem');

describe('a job after another job', () => {
  test('the form creates an after-job schedule by keyboard and previews its start', async () => {
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs/new');
      await page.getByLabel('Name', { exact: true }).fill('Report');
      await page.getByLabel('Command').fill('echo after');
      await page.getByLabel('Trigger', { exact: true }).selectOption('after');
      await page.getByText('Enter a schedule to see when it fires.').waitFor();
      await page.getByRole('button', { name: 'Create job' }).click();
      const upstream = page.getByLabel('Upstream job (ID)');
      await until(async () => (await upstream.getAttribute('aria-invalid')) === 'true', 'the empty field to be refused');
      await upstream.focus();
      await page.keyboard.type('orders');
      // The jobs with this text in the name are suggested by their ids.
      const offered = page.locator('datalist option[value=load]');
      await offered.waitFor({ state: 'attached' });
      assert.equal(await offered.textContent(), 'Load orders');
      await upstream.fill('load');
      await page.getByText('Job: Load orders').waitFor();
      await page.getByText('Starts after Load orders succeeds.').waitFor();
      await page.getByLabel('Starts on').selectOption('done');
      await page.getByText('Starts after Load orders succeeds or fails.').waitFor();
      assert.equal(await page.locator('[data-fire]').count(), 0);
      assert.deepEqual(await look(page, 'the form'), []);
      await page.getByRole('button', { name: 'Create job' }).click();
      await heading(page, /Report/);
      await page.getByRole('link', { name: 'after Load orders succeeds or fails' }).waitFor();
      await page.getByText('No fires are planned').waitFor();
    });
    const { items: [report] } = await server.api('GET', 'jobs?q=Report');
    const [{ schedule_id: _id, parameters: _none, ...schedule }] = report.schedules;
    assert.deepEqual(schedule, { kind: 'after', job: 'load', on: 'done' });
  });

  test('a run names the run that started it and links to it', async () => {
    await make('mail', 'Send mail', { job: 'load' });
    const { run_id: first } = await server.api('POST', 'jobs/load/execute', {});
    const run = await runOf('mail');
    await person({}, async (page) => {
      await page.goto(server.url + '/runs?kind=after');
      await page.getByRole('link', { name: 'Send mail' }).first().waitFor();
      assert.equal(await page.getByLabel('Trigger', { exact: true }).inputValue(), 'after');
      await page.goto(server.url + '/runs/' + run.run_id);
      await page.getByText('Started by', { exact: true }).waitFor();
      assert.deepEqual(await look(page, 'the run'), []);
      await page.getByRole('link', { name: 'Run of Load orders' }).click();
      await page.waitForURL('**/runs/' + first);
      await heading(page, /Load orders/);
      assert.equal(await page.getByText('Started by', { exact: true }).count(), 0);
    });
    assert.deepEqual([run.kind, run.fire_time], ['after', (await server.api('GET', 'runs/' + first)).fire_time]);
  });

  test('the dependencies tab links both jobs to each other', async () => {
    await make('alarm', 'Alarm', { job: 'breaks', on: 'failure' });
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs/alarm');
      await page.getByRole('button', { name: 'Dependencies' }).click();
      await page.getByText('No job starts after this job.').waitFor();
      assert.match(await inList(page, 'Upstream jobs').innerText(), /^Breaks\s+on failure$/);
      await page.getByRole('link', { name: 'Breaks' }).focus();
      await page.keyboard.press('Enter');
      await heading(page, /Breaks/);
      await page.getByRole('button', { name: 'Dependencies' }).click();
      assert.match(await inList(page, 'Downstream jobs').innerText(), /^Alarm\s+on failure$/);
      await page.getByText('This job does not start after another job.').waitFor();
      assert.match(page.url(), /tab=dependencies/);
      assert.deepEqual(await look(page, 'dependencies'), []);
      await page.goto(server.url + '/jobs?q=alarm');
      await page.getByRole('link', { name: 'after Breaks fails' }).waitFor();
    });
  });

  test('the form edits several after-job schedules with parameters on a phone', async () => {
    await person({ width: 360 }, async (page) => {
      await page.goto(server.url + '/jobs/alarm/edit');
      await page.getByRole('button', { name: 'Set parameters' }).click();
      assert.equal(await page.getByLabel('Upstream job of schedule 1 (ID)').inputValue(), 'breaks');
      assert.equal(await page.getByLabel('Schedule 1 starts on').inputValue(), 'failure');
      await page.getByLabel('Parameters of schedule 1').fill('{"from": "{{trigger.run_id}}"}');
      await page.getByRole('button', { name: 'Add a schedule' }).click();
      await page.getByLabel('Schedule 2', { exact: true }).selectOption('after');
      await page.getByLabel('Upstream job of schedule 2 (ID)').fill('load');
      await page.getByText('Starts after Load orders succeeds.').waitFor();
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'no sideways scrolling');
      assert.deepEqual(await look(page, 'on a phone'), []);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.waitForURL('**/jobs/alarm');
    });
    const { schedules } = await server.api('GET', 'jobs/alarm');
    assert.deepEqual(schedules.map((one) => [one.job, one.on, one.parameters?.from]),
      [['breaks', 'failure', '{{trigger.run_id}}'], ['load', 'success', undefined]]);
  });
});

describe('a job that waits for runs of another job', () => {
  test('the form says for which run a run would wait', async () => {
    await server.api('POST', 'jobs', { job_id: 'stock', name: 'Stock', command: 'true', cron_expression: '0 0 29 2 *' });
    await server.api('POST', 'jobs', { job_id: 'daily', name: 'Daily', command: 'true' });
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs/daily/edit');
      await page.getByText('Wait for runs of other jobs').click();
      await page.getByRole('button', { name: 'Add a job to wait for' }).click();
      await page.getByLabel('Job 1 (ID)', { exact: true }).fill('stock');
      await page.getByText('Job: Stock').waitFor();
      await page.getByText('Waits for stock, which has no fire in the window.').waitFor();
      assert.deepEqual(await look(page, 'the form'), []);
      await page.getByLabel('Fires of job 1 that count').selectOption('before');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.waitForURL('**/jobs/daily');
      await page.getByRole('button', { name: 'Configuration' }).click();
      await page.getByText('last fire of the day before · success').waitFor();
      await page.goto(server.url + '/jobs/stock?tab=dependencies');
      assert.match(await inList(page, 'Downstream jobs').innerText(), /^Daily\s+waits on success$/);
    });
    const { waits_for, wait_limit_s } = await server.api('GET', 'jobs/daily');
    assert.deepEqual([waits_for, wait_limit_s], [[{ job: 'stock', on: 'success', which: 'last', window: { day: -1 } }], 21_600]);
  });

  test('a run that waits is found by the filter and released with a reason', async () => {
    await server.api('POST', 'jobs', {
      job_id: 'waiter', name: 'Waiter', command: 'true', schedules: [{ kind: 'after', job: 'load' }],
      waits_for: [{ job: 'stock', window: { day: 0 } }], wait_limit_s: 3600,
    });
    await server.api('POST', 'jobs/load/execute', {});
    await person({ width: 360 }, async (page) => {
      await page.goto(server.url + '/runs');
      await page.getByRole('button', { name: 'Waits for other jobs' }).click();
      await page.getByRole('link', { name: 'Waiter' }).waitFor();
      const { items: [run] } = await server.api('GET', 'runs?waiting=upstream_run');
      await page.goto(server.url + '/runs/' + run.run_id);
      await page.getByText(/^Waits for stock/).waitFor();
      assert.deepEqual(await look(page, 'the run'), []);
      await page.getByRole('button', { name: 'Release' }).click();
      const dialog = page.getByRole('dialog', { name: 'Release this run?' });
      await dialog.getByLabel('Reason (optional)').fill('stock is empty');
      await dialog.getByRole('button', { name: 'Release' }).click();
      await dialog.waitFor({ state: 'detached' });
    });
    await runOf('waiter');
    const { items: [entry] } = await server.api('GET', 'audit?action=run.release');
    assert.equal(entry.reason, 'stock is empty');
  });
});

describe('refusals', () => {
  test('an unknown upstream job and a cycle are refused at the field', async () => {
    await make('one', 'One', { job: 'load' });
    await make('two', 'Two', { job: 'one' });
    await person({ asked: ['/api/jobs/one'] }, async (page) => {
      await page.goto(server.url + '/jobs/one/edit');
      const upstream = page.getByLabel('Upstream job (ID)');
      for (const [id, text] of [['no-such-job', /no-such-job|unknown/i], ['two', /->/]]) {
        await upstream.fill(id);
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByRole('alert').filter({ hasText: text }).first().waitFor();
        assert.equal(await upstream.getAttribute('aria-invalid'), 'true', id);
      }
    });
    assert.equal((await server.api('GET', 'jobs/one')).schedules[0].job, 'load');
  });

  test('a delete names dependent jobs and needs a second confirmation', async () => {
    await server.api('POST', 'jobs', { job_id: 'base', name: 'Base', command: 'true' });
    await make('upper', 'Upper', { job: 'base' });
    await person({ asked: ['/api/jobs/base'] }, async (page) => {
      await page.goto(server.url + '/jobs/base');
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
      await dialog.getByText('These jobs depend on Base:').waitFor();
      assert.deepEqual(await dialog.getByRole('listitem').allInnerTexts(), ['Upper']);
      assert.deepEqual(await look(page, 'the dialog'), []);
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
      assert.equal((await server.api('GET', 'jobs/base')).state, 'ENABLED');
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
      await dialog.getByRole('button', { name: 'Delete anyway' }).press('Enter');
      await heading(page, 'Jobs');
      await page.goto(server.url + '/jobs/upper?tab=dependencies');
      const left = inList(page, 'Upstream jobs');
      await left.waitFor();
      assert.match(await left.innerText(), /^Base\s+on success · deleted/);
      assert.equal(await left.getByRole('link').count(), 0);
    });
  });
});

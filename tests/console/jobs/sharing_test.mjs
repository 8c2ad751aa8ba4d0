// Namespaces, and jobs that are shared with a user by namespace and by labels.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heading, signIn, until, withServer } from '../support/server.mjs';

const password = 'correct horse battery';
const { server, guest } = withServer(async () => {
  for (const [name, role] of [['anna', 'admin'], ['uma', 'user']]) await server.api('POST', 'users', { name, role, password });
  for (const [id, more] of [['wages', { namespace: 'payroll' }], ['etl', { labels: { team: 'etl' } }], ['alone', {}]]) {
    await server.api('POST', 'jobs', { job_id: id, name: 'Job ' + id, command: 'sleep 300', ...more });
  }
});

const as = (name, path, body) => guest({ asked: ['/api/auth/', '/api/jobs', '/api/users'] }, async (page) => {
  await page.goto(server.url + path);
  await signIn(page, name, password);
  await body(page);
});
const dialog = (page) => page.locator('.dialog');
const share = (page, n) => dialog(page).getByRole('group', { name: 'Share ' + n });

describe('namespaces', () => {
  test('a namespace is chosen in the form and filters the list by its link', async () => {
    await as('anna', '/jobs/new', async (page) => {
      await page.getByLabel('Name', { exact: true }).fill('Bonus');
      await page.getByLabel('Command').fill('true');
      await page.getByLabel('Trigger', { exact: true }).selectOption('manual');
      const field = page.getByLabel('Namespace');
      assert.equal(await field.inputValue(), 'default');
      await field.fill('payroll');
      await page.getByRole('button', { name: 'Create job' }).click();
      await heading(page, /Bonus/);
      await page.getByRole('link', { name: 'payroll' }).click();
      await page.waitForURL('**/jobs?namespace=payroll');
      await page.getByRole('link', { name: 'Bonus' }).waitFor();
      await page.getByRole('link', { name: 'Job wages' }).waitFor();
      assert.equal(await page.getByRole('link', { name: 'Job alone' }).count(), 0);
    });
  });

  test('the YAML of a job contains its namespace', async () => {
    await as('anna', '/jobs/wages?tab=configuration', async (page) => {
      assert.match(await page.getByTestId('yaml').textContent(), /^namespace: payroll$/m);
    });
  });
});

describe('shares', () => {
  test('a share makes jobs usable, and a refused one is shown at its field', async () => {
    await as('uma', '/jobs/wages', async (page) => {
      const run = page.getByRole('button', { name: 'Run now' });
      await run.waitFor();
      assert.ok(await run.isDisabled());
      assert.match(await run.getAttribute('title'), /Owned by another user/);
    });
    await as('anna', '/admin/users', async (page) => {
      await page.getByRole('button', { name: 'Edit uma' }).click();
      await dialog(page).getByRole('button', { name: 'Add a share' }).click();
      await share(page, 1).getByLabel('Namespace').fill('payroll');
      await dialog(page).getByRole('button', { name: 'Add a share' }).click();
      await share(page, 2).getByLabel('Namespace').fill('default');
      await share(page, 2).getByLabel('Labels').fill('team =');
      await dialog(page).getByRole('button', { name: 'Save' }).click();
      await until(async () => (await share(page, 2).locator('[aria-invalid=true]').count()) > 0, 'the refusal at its field');
      await share(page, 2).getByLabel('Labels').fill('team = etl');
      await dialog(page).getByRole('button', { name: 'Save' }).click();
      await dialog(page).waitFor({ state: 'detached' });
      const row = page.locator('tr', { hasText: 'uma' });
      await row.getByText('payroll: all jobs').waitFor();
      await row.getByText('default: team = etl').waitFor();
    });
    await as('uma', '/account', async (page) => {
      await page.getByText('payroll: all jobs').waitFor();
      await page.getByText('default: team = etl').waitFor();
      for (const [id, may] of [['wages', true], ['etl', true], ['alone', false]]) {
        await page.goto(`${server.url}/jobs/${id}`);
        const button = page.getByRole('button', { name: 'Pause', exact: true });
        await button.waitFor();
        assert.equal(await button.isEnabled(), may, id);
      }
      await page.goto(server.url + '/jobs');
      const now = (id) => page.getByRole('button', { name: `Run Job ${id} now` });
      await now('wages').waitFor();
      assert.deepEqual([await now('wages').isEnabled(), await now('alone').isEnabled()], [true, false]);
      await now('wages').click();
      await page.waitForURL('**/runs/*');
      await page.locator('h1 [data-state=RUNNING]').waitFor();
      await page.getByRole('button', { name: 'Cancel run' }).click();
      await page.locator('h1 [data-state=CANCELLED]').waitFor();
      // An edit would take the job out of the user's own reach: the server's message is shown at the field.
      await page.goto(server.url + '/jobs/wages/edit');
      await page.getByLabel('Namespace').fill('elsewhere');
      await page.getByRole('button', { name: 'Save' }).click();
      await until(async () => (await page.getByLabel('Namespace').getAttribute('aria-invalid')) === 'true', 'the refusal at its field');
      await page.getByLabel('Namespace').fill('payroll');
    });
  });
});

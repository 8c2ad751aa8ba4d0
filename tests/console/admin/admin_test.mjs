// Users, API tokens and the account, in a real browser against a real server.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heading, signIn, until, withServer } from '../support/server.mjs';

const password = 'correct horse battery';
const { server, person, guest } = withServer(async () => {
  await server.api('POST', 'users', { name: 'anna', password, role: 'admin' });
  await server.api('POST', 'users', { name: 'uma', password, role: 'user' });
});

const users = async () => (await server.api('GET', 'users')).items;
const as = (name, options, body) => guest({ ...options, asked: ['/api/auth/', ...(options.asked ?? [])] },
  async (page, person) => {
    await page.goto(server.url + (options.path ?? '/'));
    await signIn(page, name, password);
    await body(page, person);
  });
const login = (name, secret) => fetch(server.url + '/api/auth/login', {
  method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ name, password: secret }),
});

describe('users', () => {
  test('users: an administrator creates, edits, disables and deletes a user', async () => {
    await as('anna', { path: '/admin', asked: ['/api/users'] }, async (page) => {
      await heading(page, 'Users');
      await page.getByRole('button', { name: 'New user' }).click();
      const dialog = page.locator('.dialog');
      await dialog.getByLabel('Name', { exact: true }).fill('bob');
      await dialog.getByLabel('Password').fill('short');
      await dialog.getByRole('button', { name: 'Create user' }).click();
      const field = dialog.getByLabel('Password');
      await until(async () => (await field.getAttribute('aria-invalid')) === 'true', 'the refusal at its field');
      await field.fill(password);
      await dialog.getByRole('button', { name: 'Create user' }).click();
      await page.locator('tr', { hasText: 'bob' }).waitFor();
      assert.equal((await login('bob', password)).status, 200);

      await page.getByRole('button', { name: 'Edit bob' }).click();
      await dialog.getByLabel('Role').selectOption('read_only');
      await dialog.getByLabel('Disabled').check();
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.locator('tr', { hasText: 'bob' }).locator('[data-state=DISABLED]').waitFor();
      assert.equal((await login('bob', password)).status, 401);

      await page.getByRole('button', { name: 'Edit bob' }).click();
      await dialog.getByLabel('Disabled').uncheck();
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.locator('tr', { hasText: 'bob' }).locator('[data-state=ENABLED]').waitFor();
      await page.getByRole('button', { name: 'Set a new password for bob' }).click();
      await dialog.getByLabel('New password').fill('another battery horse');
      await dialog.getByRole('button', { name: 'Set password' }).click();
      await dialog.waitFor({ state: 'detached' });
      assert.equal((await login('bob', password)).status, 401);
      assert.equal((await login('bob', 'another battery horse')).status, 200);

      await page.getByRole('button', { name: 'Delete bob' }).click();
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await page.locator('tr', { hasText: 'bob' }).waitFor({ state: 'detached' });
      assert.ok(!(await users()).some((user) => user.name === 'bob'));
    });
  });

  test('users: the server keeps the last administrator, and the page says so', async () => {
    await as('anna', { path: '/admin/users', asked: ['/api/users'] }, async (page) => {
      await page.getByRole('button', { name: 'Edit anna' }).click();
      const dialog = page.locator('.dialog');
      await dialog.getByLabel('Role').selectOption('user');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByRole('alert').filter({ hasText: /last/ }).waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Delete anna' }).click();
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await dialog.getByRole('alert').filter({ hasText: /last/ }).waitFor();
      assert.equal((await users()).find((user) => user.name === 'anna').role, 'admin');
    });
  });

  test('users: the page tells other roles why they are refused', async () => {
    await as('uma', { path: '/admin/users', asked: ['/api/users', '/api/audit'] }, async (page) => {
      await heading(page, 'Users');
      await page.getByText('You do not have permission to view this').waitFor();
      await page.getByText(/users:manage/).waitFor();
      assert.ok(await page.getByRole('button', { name: 'New user' }).isDisabled());
      await page.getByRole('link', { name: 'Audit' }).click();
      await page.getByText(/audit:read/).waitFor();
    });
  });
});

describe('API tokens', () => {
  test('tokens: a new token is shown once, is limited by its maker and ends when revoked', async () => {
    await as('uma', { path: '/admin/tokens' }, async (page) => {
      await heading(page, 'API tokens');
      await page.getByText('No API tokens yet').waitFor();
      await page.getByRole('button', { name: 'New token' }).first().click();
      const dialog = page.locator('.dialog');
      await dialog.getByLabel('Name').fill('robot');
      assert.deepEqual(await dialog.getByLabel('Role', { exact: true }).locator('option').allTextContents(), ['User', 'Read only']);
      await dialog.getByLabel('Role', { exact: true }).selectOption('read_only');
      await dialog.getByLabel('Expires').selectOption('7');
      await dialog.getByLabel('Restrict to selected permissions').check();
      await dialog.getByLabel('read', { exact: true }).check();
      await dialog.getByRole('button', { name: 'Create token' }).click();
      const whole = await dialog.getByLabel('API token').inputValue();
      const ask = (method, path) => fetch(server.url + path, { method, headers: { Authorization: 'Bearer ' + whole, 'Content-Type': 'application/json' } });
      assert.equal((await ask('GET', '/api/jobs')).status, 200);
      assert.equal((await ask('POST', '/api/jobs')).status, 403);
      await dialog.getByRole('button', { name: 'Done' }).click();
      await page.locator('tr', { hasText: 'robot' }).waitFor();
      assert.equal(await page.locator('tr', { hasText: 'robot' }).locator('[data-column=scopes]').textContent(), 'read');
      assert.ok(!(await page.content()).includes(whole), 'shown once');
      const [made] = (await server.api('GET', 'tokens')).items.filter((one) => one.name === 'robot');
      assert.deepEqual(made.scopes, ['read']);
      const days = (Date.parse(made.expires_at) - Date.now()) / 86_400_000;
      assert.ok(days > 6.9 && days < 7.1, String(days));
      await until(async () => (await page.locator('tr', { hasText: 'robot' }).locator('[data-column=used] time').count()) === 1, 'its last use');
      await page.getByRole('button', { name: 'Revoke robot' }).click();
      await dialog.getByRole('button', { name: 'Revoke' }).click();
      await page.getByText('No API tokens yet').waitFor();
      assert.equal((await ask('GET', '/api/jobs')).status, 401);
    });
  });

  test('tokens: a past expiry date is refused at its field', async () => {
    await as('uma', { path: '/admin/tokens', asked: ['/api/tokens'] }, async (page) => {
      await page.getByRole('button', { name: 'New token' }).first().click();
      const dialog = page.locator('.dialog');
      await dialog.getByLabel('Name').fill('late');
      await dialog.getByLabel('Expires').selectOption('date');
      await dialog.getByLabel('Last day').fill('2020-01-01');
      await dialog.getByRole('button', { name: 'Create token' }).click();
      await until(async () => (await dialog.getByLabel('Last day').getAttribute('aria-invalid')) === 'true', 'the refusal');
      assert.ok(!(await server.api('GET', 'tokens')).items.some((one) => one.name === 'late'));
    });
  });
});

describe('the account', () => {
  test('account: a changed password keeps the current session and ends the others', async () => {
    const made = await login('uma', password);
    const { access_token: other } = await made.json();
    await as('uma', { path: '/account' }, async (page) => {
      await heading(page, 'Account');
      await page.getByText('jobs:write:own').waitFor();
      await page.getByLabel('Current password').fill('not this one');
      await page.getByLabel('New password').fill('another battery horse');
      await page.getByLabel('Repeat the password').fill('another battery');
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByText('The passwords do not match.').waitFor();
      await page.getByLabel('Repeat the password').fill('another battery horse');
      await page.getByRole('button', { name: 'Change password' }).click();
      await until(async () => (await page.getByLabel('Current password').getAttribute('aria-invalid')) === 'true', 'the refusal');
      await page.getByLabel('Current password').fill(password);
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByText('Password changed').waitFor();
      await page.getByRole('link', { name: 'Jobs' }).click();
      await heading(page, 'Jobs');
      await page.getByText('No jobs yet').waitFor();
    });
    const refused = await fetch(server.url + '/api/jobs', { headers: { Authorization: 'Bearer ' + other } });
    assert.equal(refused.status, 401);
    assert.equal((await login('uma', password)).status, 401);
  });

  test('account: language, theme, zone and shortcuts are kept in this browser', async () => {
    await server.api('POST', 'jobs', { job_id: 'zoned', name: 'Zoned', command: 'true' });
    await person({}, async (page) => {
      await page.goto(server.url + '/account');
      await page.getByText('You are signed in with an API token, which has no password.').waitFor();
      await page.getByLabel('Theme', { exact: true }).selectOption('dark');
      await page.getByRole('main').getByLabel('Times', { exact: true }).selectOption('local');
      const zone = page.getByLabel('Local time zone');
      await zone.fill('Atlantis/Deep');
      await page.getByText('This browser does not know this time zone.').waitFor();
      await zone.fill('Asia/Kolkata');
      await page.getByLabel('Single-key shortcuts').uncheck();
      await page.goto(server.url + '/jobs/zoned?tab=configuration');
      await page.getByText(/\+05:30/).first().waitFor();
      assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
      await page.goto(server.url + '/account');
      assert.equal(await page.getByLabel('Single-key shortcuts').isChecked(), false);
      await page.getByLabel('Language', { exact: true }).selectOption('zh-CN');
      await heading(page, '账户');
    });
  });
});

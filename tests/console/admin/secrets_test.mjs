// Secrets in the console: a secret is written and used by a job, and its value is visible nowhere.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heading, look, signIn, until, withServer } from '../support/server.mjs';

const password = 'correct horse battery';
const VALUE = 'tr0ub4dor-and-3';
const { server, person, guest } = withServer(async () => {
  for (const [name, role] of [['anna', 'admin'], ['uma', 'user']]) await server.api('POST', 'users', { name, role, password });
});

const as = (name, options, body) => guest({ ...options, asked: ['/api/auth/', ...(options.asked ?? [])] }, async (page) => {
  await page.goto(server.url + '/admin/secrets');
  await signIn(page, name, password);
  await body(page);
});
const secrets = async () => (await server.api('GET', 'secrets')).items;
const outputOf = async (page, job) => {
  const { run_id: run } = await server.api('POST', `jobs/${job}/execute`, {});
  await page.goto(`${server.url}/runs/${run}`);
  await page.locator('h1 [data-state=COMPLETED]').waitFor();
  await page.getByText(/The log is complete/).waitFor();
  return (await page.locator('[data-line]').allTextContents()).join('\n');
};

test('secrets: a secret is created, used by a job, edited and deleted, and its value is never shown', async () => {
  await as('anna', { asked: ['/api/secrets'] }, async (page) => {
    await heading(page, 'Secrets');
    const answers = [];
    page.on('response', async (response) => response.url().includes('/api/secrets') && answers.push(await response.text().catch(() => '')));
    await page.getByText('No secrets yet').waitFor();
    await page.getByRole('button', { name: 'New secret' }).first().click();
    const dialog = page.locator('.dialog');
    await dialog.getByLabel('Name').fill('shop_db');
    await dialog.getByLabel('Value', { exact: true }).fill('short');
    await dialog.getByRole('button', { name: 'Create secret' }).click();
    await until(async () => (await dialog.getByLabel('Value', { exact: true }).getAttribute('aria-invalid')) === 'true', 'the refusal at its field');
    await dialog.getByLabel('Value', { exact: true }).fill(VALUE);
    const seen = () => dialog.getByLabel('Value', { exact: true }).evaluate((field) => getComputedStyle(field).webkitTextSecurity);
    assert.equal(await seen(), 'disc');
    await dialog.getByLabel('Show the value while typing').check();
    assert.equal(await seen(), 'none');
    await dialog.getByLabel('Description (optional)').fill('the shop');
    await dialog.getByLabel('Available to all jobs').check();
    await dialog.getByRole('button', { name: 'Create secret' }).click();
    await page.locator('tr', { hasText: 'shop_db' }).waitFor();
    assert.deepEqual((await secrets()).map((one) => [one.name, one.description, one.shared, one.version]), [['shop_db', 'the shop', true, 1]]);
    assert.ok(!(await page.content()).includes(VALUE));

    await server.api('POST', 'jobs', { job_id: 'uses', name: 'Uses', command: 'printf %s "$DB" | wc -c', env: { DB: '{{secrets.shop_db}}' } });
    assert.match(await outputOf(page, 'uses'), new RegExp(`${VALUE.length}$`));

    await page.goto(server.url + '/admin/secrets');
    await page.getByRole('button', { name: 'Edit shop_db' }).click();
    assert.equal(await dialog.getByLabel('New value (optional)').inputValue(), '');
    await dialog.getByLabel('Description (optional)').fill('the old shop');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('the old shop').waitFor();
    assert.match(await outputOf(page, 'uses'), new RegExp(`${VALUE.length}$`), 'the value stays');
    await page.goto(server.url + '/admin/secrets');
    await page.getByRole('button', { name: 'Edit shop_db' }).click();
    await dialog.getByLabel('New value (optional)').fill('two\nlines of it');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.match(await outputOf(page, 'uses'), /15$/);

    await page.goto(server.url + '/admin/secrets');
    await page.getByRole('button', { name: 'Delete shop_db' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No secrets yet').waitFor();
    assert.deepEqual(await secrets(), []);
    assert.ok(answers.length > 3 && answers.every((text) => !text.includes(VALUE)), 'no answer holds the value');
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    assert.ok(!kept.includes(VALUE));
  });
});

test('secrets: an edit does not overwrite a newer version', async () => {
  await server.api('POST', 'secrets', { name: 'contested', value: VALUE });
  await as('anna', { asked: ['/api/secrets'] }, async (page) => {
    await page.getByRole('button', { name: 'Edit contested' }).click();
    await server.api('PUT', 'secrets/contested', { description: 'theirs' }, { 'If-Match': '"v1"' });
    const dialog = page.locator('.dialog');
    await dialog.getByLabel('Description (optional)').fill('mine');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('theirs').waitFor();
  });
});

test('secrets: a user creates their own, which cannot be shared with all jobs', async () => {
  await as('uma', {}, async (page) => {
    await page.getByRole('button', { name: 'New secret' }).click();
    const dialog = page.locator('.dialog');
    assert.ok(await dialog.getByLabel('Available to all jobs').isDisabled());
    await dialog.getByLabel('Name').fill('own_one');
    await dialog.getByLabel('Value', { exact: true }).fill(VALUE);
    await dialog.getByRole('button', { name: 'Create secret' }).click();
    await page.locator('tr', { hasText: 'own_one' }).getByText('You').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Delete own_one' }).isEnabled());
  });
});

test('secrets: the page fits a phone in both themes and languages', async () => {
  await server.api('POST', 'secrets', { name: 'a_name_as_long_as_it_may_be_and_then_some_more_letters_after', value: VALUE });
  for (const [theme, locale, label] of [['light', 'en-GB', /^Edit a_name/], ['dark', 'zh-CN', /^编辑 a_name/]]) {
    await person({ theme, locale, width: 360 }, async (page) => {
      await page.goto(server.url + '/admin/secrets');
      const wide = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      const opener = page.getByRole('button', { name: label });
      await opener.waitFor();
      assert.ok((await wide()) <= 0, `${await wide()} px too wide`);
      assert.doesNotMatch(await page.locator('main').innerText(), /\b(secrets|admin)\.(?!NAME)[a-z_]+\b/);
      await opener.focus();
      await page.keyboard.press('Enter');
      await page.locator('.dialog textarea').waitFor();
      assert.deepEqual(await look(page, locale), []);
      await page.keyboard.press('Escape');
      await page.locator('.dialog').waitFor({ state: 'detached' });
      await until(() => opener.evaluate((one) => one === document.activeElement), 'the focus back');
    });
  }
});

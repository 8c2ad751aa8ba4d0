// Notifications in the console: the events that a job notifies of, the deliveries, and sending one again, with
// a real receiver.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { heading, look, signIn, startBrowser, startServer, until, withPerson } from '../support/server.mjs';

const password = 'correct horse battery';
const scratch = mkdtempSync(join(tmpdir(), 'carillon-notices-'));
let server;
let browser;
let receiver;
let answer = 204;
const received = [];

before(async () => {
  receiver = http.createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => { body += chunk; });
    request.on('end', () => {
      received.push({ id: request.headers['webhook-id'], ...JSON.parse(body) });
      response.writeHead(answer).end();
    });
  });
  await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const secret = join(scratch, 'webhook.secret');
  writeFileSync(secret, 'whsec_' + Buffer.alloc(32, 7).toString('base64') + '\n', { mode: 0o600 });
  [server, browser] = await Promise.all([
    startServer({ CARILLON_NOTIFY_WEBHOOK_URL: `http://127.0.0.1:${receiver.address().port}/hook`, CARILLON_NOTIFY_WEBHOOK_SECRET_FILE: secret }),
    startBrowser(),
  ]);
  await server.api('POST', 'users', { name: 'anna', role: 'admin', password });
});
after(async () => {
  await browser?.close();
  await server?.stop();
  receiver?.closeAllConnections();
  receiver?.close();
  rmSync(scratch, { recursive: true, force: true });
});

const as = (name, path, body) => withPerson(browser, { asked: ['/api/auth/', '/api/deliveries', '/api/jobs'] }, async (page) => {
  await page.goto(server.url + path);
  await signIn(page, name, password);
  await body(page);
});
const deliveries = async (query = '') => (await server.api('GET', 'deliveries' + query)).items;
async function fail(job, fields = {}) {
  await server.api('POST', 'jobs', { job_id: job, name: job, command: 'exit 3', ...fields });
  await server.api('POST', `jobs/${job}/execute`, {});
  return until(async () => (await deliveries('?job_id=' + job)).find((one) => one.attempts > 0), 'a try to deliver');
}

describe('deliveries', () => {
  test('deliveries: each notification is listed, filtered by the address and sent again', async () => {
    await as('anna', '/admin/deliveries', async (page) => {
      await heading(page, 'Notifications');
      await page.getByText('No notifications yet').waitFor();
      const { id, run_id: run } = await fail('backup');
      const row = page.locator(`[data-row="${id}"]`);
      await row.locator('[data-state=DELIVERED]').waitFor();
      assert.match(await row.innerText(), /Run failed[\s\S]*backup[\s\S]*Webhook/);
      const told = received.filter((one) => one.data.run_id === run);
      assert.deepEqual(told.map((one) => one.type), ['run.failed']);

      answer = 503;
      await fail('nightly');
      const refused = page.locator('tr', { hasText: 'nightly' });
      await refused.locator('[data-state=PENDING]').waitFor();
      await refused.getByText(/503/).waitFor();
      await refused.locator('[data-column=next] time').waitFor();
      answer = 204;
      const before = received.length;
      await row.getByRole('button', { name: `Resend notification ${id} of backup` }).click();
      await until(() => received.slice(before).some((one) => one.data.run_id === run), 'the same message again');
      assert.equal(received.slice(before).find((one) => one.data.run_id === run).id, told[0].id, 'with the same id');
      await refused.getByRole('button').click();
      await refused.locator('[data-state=DELIVERED]').waitFor();

      await page.getByLabel('Exact job ID').fill('backup');
      await refused.waitFor({ state: 'detached' });
      await page.getByLabel('Event', { exact: true }).selectOption('late');
      await page.getByText('No matches').waitFor();
      assert.equal(new URL(page.url()).search, '?job_id=backup&kind=late');
      await page.goto(server.url + '/admin/deliveries?state=DELIVERED&job_id=nightly');
      await refused.waitFor();
      assert.equal(await page.getByLabel('State', { exact: true }).inputValue(), 'DELIVERED');
      await refused.getByRole('link', { name: 'nightly' }).click();
      await heading(page, 'nightly');
    });
  });
});

test('deliveries: the page fits a phone in both themes and languages', async () => {
  await fail('a_name_as_long_as_it_may_be_and_then_some_more_letters_after', { notify: { on: ['failed'], mail_to: ['a-very-long-address-of-somebody@a-very-long-name-of-a-host.example.org'] } });
  for (const [theme, locale, label] of [['light', 'en-GB', 'Send a test notification'], ['dark', 'zh-CN', '发送测试通知']]) {
    await withPerson(browser, { token: server.token, theme, locale, width: 360 }, async (page) => {
      const wide = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      await page.goto(server.url + '/admin/deliveries');
      await page.locator('[data-row]').first().waitFor();
      assert.ok((await wide()) <= 0, `${await wide()} px too wide`);
      assert.doesNotMatch(await page.locator('main').innerText(), /\b(deliveries|notice|channel|tell|state)\.[A-Za-z_]+\b/);
      assert.deepEqual(await look(page, locale), []);
      const opener = page.getByRole('button', { name: label });
      await opener.focus();
      await page.keyboard.press('Enter');
      await page.locator('.dialog').waitFor();
      await page.locator('.dialog .button-primary').click();
      await page.locator('[data-channel=webhook]').waitFor();
      assert.deepEqual(await look(page, locale + ', the test'), []);
      await page.keyboard.press('Escape');
      await page.locator('.dialog').waitFor({ state: 'detached' });
      await until(() => opener.evaluate((one) => one === document.activeElement), 'the focus back');

      await page.goto(server.url + '/jobs/a_name_as_long_as_it_may_be_and_then_some_more_letters_after/edit');
      await page.getByTestId('telling').waitFor();
      assert.ok((await wide()) <= 0, `${await wide()} px too wide`);
      assert.doesNotMatch(await page.locator('main').innerText(), /\b(form|option|tell|notice)\.[a-z_]+\b/);
      assert.deepEqual(await look(page, locale + ', the form'), []);
    });
  }
});

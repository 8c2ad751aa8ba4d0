// The page of an executor, the reason of a drain, and how another executor joins, in a real browser against
// a real server.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { BIN, heading, look, until, withServer } from '../support/server.mjs';

let id;
const { server, person } = withServer(async () => {
  await until(async () => (id = (await server.api('GET', 'executors')).items[0]?.executor_id), 'the executor');
  await server.api('POST', 'jobs', { job_id: 'seen', name: 'Seen', command: 'true' });
  await server.api('POST', 'jobs/seen/execute', {});
  await until(async () => (await server.api('GET', 'runs?state=COMPLETED')).items.length === 1, 'its run');
});

for (const theme of ['light', 'dark']) {
  test(`executors: each has a page with its facts and runs, ${theme}`, async () => {
    await person({ theme }, async (page) => {
      await page.goto(server.url + '/executors');
      await page.getByRole('link', { name: id }).click();
      await heading(page, new RegExp(id));
      await page.getByRole('link', { name: 'Seen' }).waitFor();
      const { version } = await server.api('GET', 'executors/' + id);
      await page.locator('dd', { hasText: version }).waitFor();
      assert.deepEqual(await look(page, 'executor'), []);
      await page.getByRole('link', { name: 'Filter runs' }).click();
      await page.waitForURL('**/runs?executor_id=' + id);
      await page.locator('[data-column=executor]').getByRole('link', { name: id }).first().click();
      await page.waitForURL('**/executors/' + id);
      await page.getByRole('link', { name: 'Runs' }).first().waitFor();
    });
  });
}

test('executors: state, text and label filters are kept in the address', async () => {
  await server.api('PATCH', 'executors/' + id, { labels: { zone: 'a' } }, { 'If-Match': '*' });
  await person({}, async (page) => {
    await page.goto(server.url + '/executors');
    const row = page.getByRole('row').filter({ hasText: id });
    await row.getByRole('link', { name: 'zone=a' }).click();
    await page.waitForURL('**/executors?label=zone*');
    await page.getByRole('button', { name: 'Remove the label filter zone:a' }).waitFor();
    await row.waitFor();
    await page.getByRole('group', { name: 'State' }).getByRole('button', { name: 'Lost' }).click();
    await page.getByText('No matches').waitFor();
    assert.match(page.url(), /state=LOST/);
    assert.deepEqual(await look(page, 'no such executor'), []);
    await page.getByRole('group', { name: 'State' }).getByRole('button', { name: 'Online' }).click();
    await row.waitFor();
    await page.getByLabel('ID or host').fill('nowhere');
    await page.getByText('No matches').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).first().click();
    await row.waitFor();
    await page.goto(server.url + '/executors?q=' + id.slice(1) + '&label=zone:b');
    await page.getByText('No matches').waitFor();
    await page.getByRole('button', { name: 'Remove the label filter zone:b' }).click();
    await row.waitFor();
  });
});

test('executors: the keyboard drains one with a reason for the audit, and enables it', async () => {
  await person({}, async (page) => {
    await page.goto(server.url + '/executors/' + id);
    await page.getByRole('button', { name: 'Drain' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Reason (optional)').fill('new disks');
    await page.keyboard.press('Enter');
    await page.locator('h1 [data-state=DRAINING]').waitFor();
    const [entry] = (await server.api('GET', 'audit?object_id=' + id)).items;
    assert.deepEqual([entry.action, entry.reason], ['executor.drain', 'new disks']);
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.locator('h1 [data-state=DRAINING]').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await page.locator('h1 [data-state=DISABLED]').waitFor();
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.locator('h1 [data-state=DISABLED]').waitFor({ state: 'detached' });
  });
});

test('executors: the join commands work as shown, and a wrong ID is refused at its field', async () => {
  await person({ asked: ['/api/executors/join-tokens'] }, async (page) => {
    await page.goto(server.url + '/executors');
    await page.getByRole('button', { name: 'Add an executor' }).click();
    const field = page.getByLabel('Executor ID');
    await field.fill('Not One');
    await page.getByRole('button', { name: 'Show the commands' }).click();
    await until(async () => (await field.getAttribute('aria-invalid')) === 'true', 'the error at its field');
    await field.fill('executor-7');
    await page.getByRole('button', { name: 'Show the commands' }).click();
    const typed = page.getByRole('region', { name: 'Commands to run on the host' });
    await typed.getByText(/carillon-executor .*executor\.id=executor-7/).waitFor();
    assert.deepEqual(await look(page, 'commands'), []);
    const shown = await typed.textContent();
    await page.getByRole('button', { name: 'systemd' }).click();
    await typed.getByText(/systemctl enable --now carillon-executor/).waitFor();
    await page.getByRole('button', { name: 'Container' }).click();
    await typed.getByText(/docker run/).waitFor();
    await runsAsShown(page, shown);
  });
});

// The commands for a shell, typed on a host as they are.
async function runsAsShown(page, commands) {
  const home = mkdtempSync(join(tmpdir(), 'carillon-join-'));
  const env = { ...process.env, PATH: resolve(BIN) + ':' + process.env.PATH, CARILLON_OPS_PORT: '0' };
  const shell = spawn('bash', ['-ec', commands], { cwd: home, env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  shell.stderr.on('data', (chunk) => { log += chunk; });
  const ended = new Promise((done) => shell.on('exit', done));
  try {
    await page.goto(server.url + '/executors');
    await until(async () => {
      assert.equal(shell.exitCode, null, log);
      return (await server.api('GET', 'executors')).items.length === 2;
    }, 'the executor to join');
    await page.getByRole('row').filter({ hasText: 'executor-7' }).locator('[data-state=ONLINE]').waitFor();
  } finally {
    if (shell.exitCode === null) process.kill(-shell.pid, 'SIGTERM');
    await ended;
    rmSync(home, { recursive: true, force: true });
  }
}

test('executors: readers see why they are refused, on a phone, in both languages', async () => {
  const { token } = await server.api('POST', 'tokens', { name: 'reader', role: 'read_only' });
  for (const [locale, name, why] of [['en-GB', 'Drain', 'Only administrators can do this.'], ['zh-CN', '排空', '只有管理员可以这样做。']]) {
    await person({ token, locale, width: 360 }, async (page) => {
      for (const path of ['/executors', '/executors/' + id]) {
        await page.goto(server.url + path);
        const drain = page.getByRole('button', { name }).first();
        await drain.waitFor();
        assert.ok(await drain.isDisabled());
        assert.equal(await drain.getAttribute('title'), why);
        await page.locator('[data-column=name], [data-row]').first().waitFor();
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(wide <= 0, `${path} is ${wide} px too wide`);
      }
    });
  }
});

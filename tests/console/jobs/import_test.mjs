// Export of jobs to a file, and import from a file.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, test } from 'node:test';
import { heading, look, until, withServer } from '../support/server.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { parseAllDocuments } = createRequire(here('../../../web-ui/package.json'))('yaml');
const BIN = process.env.CARILLON_BIN ?? here('../../../build/dev/bin');
const { server, person } = withServer(async () => {
  await server.api('POST', 'jobs', { job_id: 'plain', name: 'Plain', command: "printf 'a\\n: b'", labels: { team: 'etl' } });
  await server.api('POST', 'jobs', {
    job_id: 'rich', name: 'Rich: no', namespace: 'payroll', type: 'shell', command: 'true\necho "on"\n', time_zone: 'Asia/Tokyo', enabled: false, labels: { team: 'etl', old: '' },
    schedules: [{ kind: 'cron', cron_expression: '0 3 * * *' }, { kind: 'cron', cron_expression: '*/7 * * * *', time_zone: 'UTC' }, { kind: 'rate', every_ms: 1500 },
      { kind: 'rate', every_ms: 60000, start_time: '2026-03-01T00:00:10Z' }, { kind: 'once', at: '2099-01-01T00:00:00Z' }],
    retry_intervals: [1, 20], misfire_grace: 7, catch_up_max: 3, parameters: { n: 1, x: 'yes', flag: true, share: 0.5 }, env: { HOME: '/x' }, notify: { on: ['failed'] }, priority: 9,
  });
  await server.api('POST', 'jobs', { job_id: 'short', name: 'Short', command: 'true', cron_expression: '*/5 * * * *', time_zone: 'Europe/Paris' });
});

const documentsOf = (text) => parseAllDocuments(text).map((document) => document.toJS());
const cli = (...words) => execFileSync(join(BIN, 'carillon'), words, {
  encoding: 'utf8', env: { ...process.env, CARILLON_ADDR: server.url, CARILLON_TOKEN: server.token },
});
async function exported(page) {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  return readFileSync(await (await download).path(), 'utf8');
}
const outcome = (page, id) => page.locator(`tr[data-item=${id}]`).getAttribute('data-result');

describe('an export', () => {
  test('an export equals that of the command line for all, matching and ticked jobs', async () => {
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs');
      await page.locator('[data-row=short]').waitFor();
      const all = documentsOf(await exported(page));
      await page.getByText('3 jobs exported').waitFor(); // before this message disappears
      assert.deepEqual(all, documentsOf(cli('export')));
      assert.equal(all.length, 3);
      await page.goto(server.url + '/jobs?selector=team%3Detl');
      await page.locator('[data-row=rich]').waitFor();
      assert.deepEqual(documentsOf(await exported(page)), documentsOf(cli('export', '--selector', 'team=etl')));
      await page.getByRole('checkbox', { name: 'Select Plain', exact: true }).check();
      assert.deepEqual(documentsOf(await exported(page)), documentsOf(cli('export', '--job', 'plain')));
    });
  });

  test('an export imported again changes nothing', async () => {
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs');
      await page.locator('[data-row=short]').waitFor();
      const text = await exported(page);
      await page.getByRole('link', { name: 'Import' }).click();
      await heading(page, 'Import jobs');
      await page.getByLabel('Files', { exact: true }).setInputFiles({ name: 'jobs.yaml', mimeType: 'application/yaml', buffer: Buffer.from(text) });
      await until(async () => (await page.getByLabel('Jobs', { exact: true }).inputValue()) === text, 'the text');
      await page.getByRole('button', { name: 'Preview changes' }).click();
      await page.getByText('3 unchanged').waitFor();
      assert.ok(await page.getByRole('button', { name: 'Apply' }).isDisabled());
    });
  });
});

describe('an import', () => {
  const list = 'jobs:\n- job_id: plain\n  name: Plain\n  command: date\n- name: Brand new\n  command: "true"\n- name: Wrong\n  command: "true"\n  timeout: 0\n';

  test('an import previews its changes, applies them and lists each result', async () => {
    await person({}, async (page) => {
      await page.goto(server.url + '/import');
      assert.ok(await page.getByRole('button', { name: 'Apply' }).isDisabled());
      await page.getByLabel('Jobs', { exact: true }).fill(list);
      await page.getByRole('button', { name: 'Preview changes' }).click();
      await page.getByText('1 created, 1 updated, 1 rejected').waitFor();
      assert.equal(await outcome(page, 'plain'), 'updated');
      await page.locator('tr[data-item=plain]').getByText('/command').waitFor();
      await page.getByText('/2/timeout').waitFor();
      assert.deepEqual(await look(page, 'the dry run'), []);
      assert.equal((await server.api('GET', 'jobs/plain')).version, 1);
      await page.getByRole('button', { name: 'Apply' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Applied changes' }).waitFor();
      await page.getByText('1 created, 1 updated, 1 rejected').waitFor();
      await page.getByRole('link', { name: 'Brand new' }).click();
      await heading(page, /Brand new/);
    });
    const plain = await server.api('GET', 'jobs/plain');
    assert.deepEqual([plain.command, plain.labels, plain.version], ['date', {}, 2]);
  });

  test('an import deletes only on request, within a namespace and its labels', async () => {
    await server.api('POST', 'jobs', { job_id: 'pay-1', name: 'Pay 1', namespace: 'payroll', command: 'true', labels: { app: 'pay' } });
    await server.api('POST', 'jobs', { job_id: 'pay-2', name: 'Pay 2', namespace: 'payroll', command: 'true', labels: { app: 'pay' } });
    await server.api('POST', 'jobs', { job_id: 'pay-3', name: 'Pay 3', command: 'true', labels: { app: 'pay' } });
    await person({ asked: ['prune=true'] }, async (page) => {
      await page.goto(server.url + '/import');
      await page.getByLabel('Jobs', { exact: true }).fill('{"job_id": "pay-1", "name": "Pay 1", "command": "true", "labels": {"app": "pay"}}');
      const prune = page.getByRole('checkbox', { name: /Delete jobs/ });
      assert.ok(await prune.isDisabled());
      await page.getByLabel('Namespace', { exact: true }).fill('payroll');
      await prune.check();
      await page.getByRole('button', { name: 'Preview changes' }).click();
      await page.locator('input[aria-invalid=true]').waitFor();
      await page.getByLabel('Delete only jobs with these labels').fill('app = pay');
      await page.getByRole('button', { name: 'Preview changes' }).click();
      await page.getByText('1 unchanged, 1 deleted').waitFor();
      assert.equal(await outcome(page, 'pay-2'), 'pruned');
      assert.equal((await server.api('GET', 'jobs/pay-2')).name, 'Pay 2');
      await page.getByRole('button', { name: 'Apply' }).click();
      await page.getByRole('heading', { name: 'Applied changes' }).waitFor();
    });
    const left = (await server.api('GET', 'jobs?q=pay-')).items.map((one) => one.job_id);
    assert.deepEqual(left, ['pay-1', 'pay-3']);
  });

  test('a crontab is converted, reported by row, and created as paused jobs', async () => {
    const crontab = '# tidies up\n0 3 * * * tidy --all\n@reboot warm-up\n0 9 13 * 5 odd\n';
    await person({}, async (page) => {
      await page.goto(server.url + '/import');
      await page.getByRole('button', { name: 'crontab', exact: true }).click();
      await page.getByLabel('Text', { exact: true }).fill(crontab);
      assert.ok(await page.getByRole('button', { name: 'Convert' }).isDisabled());
      await page.getByLabel('Time zone', { exact: true }).fill('Asia/Tokyo');
      await page.getByLabel('Namespace', { exact: true }).fill('moved');
      await page.getByLabel('Prefix of the job IDs').fill('cron-');
      await page.getByRole('button', { name: 'Convert' }).click();
      await page.getByText('0 3 * * *', { exact: true }).waitFor();
      await page.getByText(/ 03:00:00 \+09:00$/).first().waitFor();
      assert.deepEqual(await look(page, 'the report'), []);
      await page.getByRole('button', { name: 'Refused 1' }).click();
      assert.equal(await page.locator('tbody tr').count(), 1);
      assert.deepEqual((await server.api('GET', 'jobs?q=cron-')).items, []);
      await page.getByRole('button', { name: 'Create 2 jobs' }).click();
      await page.getByText('2 of 2: 2 created, 0 already exist, 0 failed').waitFor();
      await page.getByRole('button', { name: 'With warnings 1' }).click();
      await page.locator('[data-hint=either_day_field]').waitFor();
      assert.deepEqual(await look(page, 'the warnings'), []);
      await page.getByRole('link', { name: 'Show these jobs' }).click();
      await page.locator('[data-row^=cron-tidy]').waitFor();
    });
    const [job] = (await server.api('GET', 'jobs?q=cron-tidy')).items;
    assert.deepEqual([job.enabled, job.time_zone, job.description, job.namespace], [false, 'Asia/Tokyo', 'tidies up', 'moved']);
  });

  test('an import names the unreadable line, on a phone, in Chinese, dark', async () => {
    await person({ width: 360, locale: 'zh-CN', theme: 'dark' }, async (page) => {
      await page.goto(server.url + '/import');
      await page.getByLabel('任务', { exact: true }).fill('- name: a\n- {');
      await page.getByRole('button', { name: '预览更改' }).click();
      await page.getByText(/^第 \d+ 行/).waitFor();
      assert.deepEqual(await look(page, 'unread'), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'no sideways scrolling');
    });
  });
});

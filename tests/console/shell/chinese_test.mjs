// The Chinese console shows Chinese on every page and in every dialog, except for names, ids, code, units,
// and the server's own texts, which are marked as English.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { LONG, startBrowser, startServer, until, withPerson } from '../support/server.mjs';

const UNITS = ['ms', 'min', 'KiB', 'MiB', 'GiB'];
const TERMS = [
  'Carillon', 'API', 'HTTP', 'ID', 'UTC', 'YAML', 'JSON', 'Cron', 'Webhook', 'Shell', 'CPU', 'IO', 'IANA', 'Ctrl', 'SIGTERM', 'SIGKILL',
  'bin', 'sh', // from /bin/sh -c
];
// Words in examples of what a user may type.
const EXAMPLES = ['NAME', 'value', 'CARILLON', 'PARAM', 'Asia', 'Shanghai', 'zone', 'spare', 'secrets', 'team', 'etl', 'default', 'who', 'host', 'Home', 'End', 'exit', 'signal', 'spawn', 'oom', 'CODE', 'http', 'xx', 'error', 'gb', 'shift', 'jis', 'UTF', 'order'];
const NAMES = ['anna', 'uma', 'ci', 'token', 'admin', 'payroll', 'English', 'user', 'red', 'green', 'idle', 'shop', 'db', 'unbekannt'];

const scratch = mkdtempSync(join(tmpdir(), 'carillon-chinese-'));
let server;
let empty;
let browser;
let receiver;
let run;
let failed;
let bulk;
before(async () => {
  receiver = http.createServer((request, response) => request.resume().on('end', () => response.writeHead(500).end()));
  await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const secret = join(scratch, 'webhook.secret');
  writeFileSync(secret, 'whsec_' + Buffer.alloc(32, 7).toString('base64') + '\n', { mode: 0o600 });
  [server, empty, browser] = await Promise.all([
    startServer({ CARILLON_NOTIFY_WEBHOOK_URL: `http://127.0.0.1:${receiver.address().port}/hook`, CARILLON_NOTIFY_WEBHOOK_SECRET_FILE: secret }),
    startServer(), startBrowser(),
  ]);
  const { api } = server;
  await api('POST', 'users', { name: 'anna', role: 'admin', password: 'correct horse battery' });
  await api('POST', 'users', { name: 'uma', role: 'user', password: 'correct horse battery', shares: [{ namespace: 'payroll' }, { namespace: '*', selector: 'team = etl' }] });
  await api('POST', 'tokens', { name: 'ci', role: 'read_only' });
  await api('POST', 'secrets', { name: 'shop_db', value: 'correct horse battery', description: '商店' });
  await api('POST', 'jobs', { job_id: 'green', name: '备份', command: 'echo 1; echo ERROR 2', cron_expression: '*/10 * * * *', labels: { team: 'etl' }, namespace: 'payroll' });
  await api('PATCH', 'jobs/green', { description: '第二版' }, { 'If-Match': '"v1"' });
  await api('POST', 'jobs', { job_id: 'red', name: '报表', command: 'exit 3', schedules: [{ kind: 'rate', every_ms: 3_600_000 }] });
  await api('POST', 'jobs', { job_id: 'idle', name: '空闲', command: 'true' });
  await api('POST', 'jobs/idle/pause', { reason: '搬迁' });
  await api('POST', 'jobs', { job_id: 'red-idle', name: '收尾', command: 'true', schedules: [{ kind: 'after', job: 'idle', on: 'failure' }] });
  ({ run_id: run } = await api('POST', 'jobs/green/execute', {}));
  ({ run_id: failed } = await api('POST', 'jobs/red/execute', {}));
  ({ bulk_id: bulk } = await api('POST', 'bulk', { action: 'pause', kind: 'job', ids: ['green', 'unbekannt'], reason: '搬迁', background: true }));
  await until(async () => (await api('GET', 'runs?state=FAILED&state=COMPLETED')).items.length >= 2, 'two runs');
  await until(async () => (await api('GET', 'deliveries')).items.some((one) => one.error), 'a delivery that failed');
  await until(async () => (await api('GET', 'bulk/' + bulk)).state === 'DONE', 'the action on many');
});
after(async () => {
  await browser?.close();
  await Promise.all([server?.stop(), empty?.stop()]);
  receiver?.closeAllConnections();
  receiver?.close();
  rmSync(scratch, { recursive: true, force: true });
});

// Returns the Latin words in texts that are visible or read out by a screen reader, each with its whole text.
const wordsOf = (page) => page.evaluate(() => {
  const aside = 'script, style, datalist, [lang=en], .mono, code, pre, kbd, time, textarea';
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    if (!walker.currentNode.parentElement.closest(aside)) texts.push(walker.currentNode.data);
  }
  for (const element of document.body.querySelectorAll('[aria-label], [placeholder], [alt], [title]')) {
    if (element.closest(aside) || element.closest('[data-column=why]')) continue;
    texts.push(...['aria-label', 'placeholder', 'alt', 'title'].map((name) => element.getAttribute(name) ?? ''));
  }
  return [document.title, ...texts].flatMap((text) => 
    [...text.replace(/\b[0-9a-f]{16,}\b/g, '').matchAll(/[A-Za-z]{2,}/g)].map(([word]) => [word, text.trim()]));
});

async function english(page, what, known) {
  const found = new Map((await wordsOf(page)).filter(([word]) => !known.has(word)));
  return [...found].map(([word, text]) => `${what}: ${word} (${text.slice(0, 80)})`);
}

const settled = async (page) => {
  await page.locator('h1, [role=alert]').first().waitFor();
  await until(async () => (await page.getByText('加载中…').count()) === 0, 'the page');
};

async function allowed(from) {
  const known = new Set([...UNITS, ...TERMS, ...EXAMPLES, ...NAMES]);
  const { members } = await from.api('GET', 'system/status');
  const { settings } = await from.api('GET', 'system/config');
  const ids = [...Object.keys(settings), ...members.map((one) => one.id + ' ' + one.address), ...(await from.api('GET', 'executors')).items.flatMap((one) => [one.executor_id, one.host, one.version])];
  for (const id of ids) for (const [word] of id.matchAll(/[A-Za-z]{2,}/g)) known.add(word);
  return known;
}

const PAGES = ['/', '/jobs', '/jobs?q=nothing', '/jobs/new', '/workflows', '/runs', '/runs?state=LOST', '/gaps', '/events', '/schedule', '/schedule?view=week', '/bulk', '/bulk?state=STOPPED',
  '/executors', '/system', '/admin/users', '/admin/tokens', '/admin/secrets', '/admin/deliveries', '/admin/dead-letters', '/admin/audit', '/account', '/no-such-page',
  '/jobs/no-such-job', '/runs/no-such-run'];

async function walk(from, paths) {
  const known = await allowed(from);
  await withPerson(browser, { token: from.token, locale: 'zh-CN', asked: ['/api/'] }, async (page) => {
    const told = [];
    for (const path of paths) {
      await page.goto(from.url + path);
      await settled(page);
      told.push(...(await english(page, path, known)));
    }
    assert.deepEqual(told, []);
  });
}

test('no English is left on empty pages', () => walk(empty, LONG ? PAGES : PAGES.filter((_path, i) => i % 2 === 0)));
test('no English is left on pages with content', () => walk(server, [...PAGES, '/jobs/green', '/jobs/green?tab=runs', '/jobs/green?tab=configuration',
  '/jobs/green?tab=versions&version=2&against=1', '/jobs/green?tab=why&at=2020-01-01T00:00:00Z', '/jobs/green/edit', '/jobs/red', '/jobs/idle',
  '/jobs/red-idle', '/jobs/red-idle/edit', '/jobs/red-idle?tab=dependencies', '/jobs/idle?tab=dependencies',
  '/runs/' + run, '/runs/' + failed, '/bulk/' + bulk, '/schedule?zone=UTC&date=2099-03-02&hour=2099-03-02T03:00:00Z',
  '/schedule?zone=UTC&pause_from=2099-03-02T03:00:00Z&pause_until=2099-03-02T05:00:00Z']));

test('no English is left on refused pages', async () => {
  const known = await allowed(server);
  await withPerson(browser, { locale: 'zh-CN', asked: ['/api/'] }, async (page) => {
    await page.goto(server.url + '/');
    await page.locator('form').waitFor();
    const told = await english(page, 'signing in', known);
    await page.locator('input').first().fill('uma');
    await page.locator('input[type=password]').fill('not this one');
    await page.locator('button[type=submit]').click();
    await page.getByText('用户名或密码不正确，或账户已被禁用。').waitFor();
    await page.locator('input[type=password]').fill('correct horse battery');
    await page.locator('button[type=submit]').click();
    await page.getByRole('navigation').first().waitFor();
    for (const path of ['/admin/users', '/admin/audit', '/account', '/jobs/red']) {
      await page.goto(server.url + path);
      await settled(page);
      told.push(...(await english(page, path, known)));
    }
    assert.deepEqual(told, []);
  });
});

// [page, the button that opens a dialog or menu]
const OVERLAYS = [
  ['/jobs', '备份 的更多操作'], ['/jobs/red', '暂停'], ['/jobs/red', '删除'], ['/jobs/green?tab=versions', /^恢复到版本|^还原到版本/],
  ['/admin/users', '新建用户'], ['/admin/users', '编辑 uma'], ['/admin/users', /uma 的密码/], ['/admin/users', '删除 uma'], ['/admin/tokens', '新建令牌'],
  ['/admin/secrets', '新建机密'], ['/admin/secrets', '编辑 shop_db'], ['/admin/deliveries', '发送测试通知'], ['/executors', '标签'], ['/executors', '排空'], ['/executors', '添加执行器'], ['/jobs', '视图'], ['/jobs', '列'],
  ['/jobs', /^设置/], ['/system', '暂停集群…'], ['/admin/dead-letters', /^重试 red/], ['/admin/dead-letters', /^丢弃 red/],
];

test('no English is left in dialogs and menus', async () => {
  const known = await allowed(server);
  await withPerson(browser, { token: server.token, locale: 'zh-CN', asked: ['/api/'] }, async (page) => {
    const told = [];
    for (const [path, name] of OVERLAYS) {
      await page.goto(server.url + path);
      const button = page.getByRole('button', { name, exact: true }).first();
      await button.click();
      await page.locator('.dialog, [role=menu], .popup, [role=group][id]').first().waitFor();
      told.push(...(await english(page, `${path} ${name}`, known)));
    }
    await page.goto(server.url + '/jobs');
    await page.getByRole('link', { name: '备份' }).waitFor();
    for (const key of ['Control+k', '?']) {
      await page.keyboard.press(key);
      await page.locator('[role=dialog]').first().waitFor();
      told.push(...(await english(page, key, known)));
      await page.keyboard.press('Escape');
      await page.locator('[role=dialog]').first().waitFor({ state: 'detached' });
    }
    assert.deepEqual(told, []);
  });
});

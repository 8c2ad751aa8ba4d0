// A real `carillon standalone` in a scratch directory, a client for its API, a proxy that serves it under a
// path, and a browser with an empty profile, for the tests of the console.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const require = createRequire(here('../../../web-ui/package.json'));
const { chromium } = require('playwright-core');
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

// True in the long form of the tests (`./dev test --all`): more pages and lines, the same assertions.
export const LONG = process.env.CARILLON_TEST_LONG === '1';
export const BIN = process.env.CARILLON_BIN ?? here('../../../build/dev/bin');
// The data directory of an empty database (tests/support/py/mariadb_template.py), of which a new server gets a copy.
const TEMPLATE = process.env.CARILLON_MARIADB_TEMPLATE;
// The limit of waits that a working product ends in a moment: long enough for a machine under any load, because a test that
// passes does not reach it. A shorter limit is for a time that is promised.
const PATIENCE_MS = 120_000;
const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

export async function until(condition, what, ms = PATIENCE_MS) {
  const deadline = Date.now() + ms;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`waited ${ms} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

// `env`: more settings of this server, such as CARILLON_NOTIFY_WEBHOOK_URL.
export async function startServer(env = {}) {
  const data = mkdtempSync(join(tmpdir(), 'carillon-console-'));
  if (TEMPLATE) {
    mkdirSync(join(data, 'mariadb'), { mode: 0o700 });
    execFileSync('cp', ['-a', TEMPLATE, join(data, 'mariadb', 'data')]);
  }
  const read = (file) => readFileSync(join(data, file), 'utf8');
  let child;
  const begin = async (port) => {
    child = spawn(join(BIN, 'carillon'), ['standalone', '--port', port, '--data-dir', data, '--executors', '127.0.0.1:0'], {
      // The port of health and metrics is chosen freely, because other servers may use the default one. The database is
      // small, because its server writes the redo log, which grows with the buffer pool, in full.
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, CARILLON_OPS_PORT: '0', CARILLON_STORE_BUFFER_POOL_MIB: '128', ...env },
    });
    let log = '';
    child.stderr.on('data', (chunk) => { log = (log + chunk).slice(-4000); });
    await until(() => {
      if (child.exitCode !== null) throw new Error('the server ended: ' + log);
      // A server that was killed leaves its runtime.json, so the process id is compared.
      return existsSync(join(data, 'runtime.json')) && existsSync(join(data, 'admin.token')) && JSON.parse(read('runtime.json')).pid === child.pid;
    }, 'the server');
    return JSON.parse(read('runtime.json')).url;
  };
  const end = async (signal) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  };
  const url = await begin('0');
  const token = read('admin.token').trim();
  const api = async (method, path, body, headers = {}) => {
    const response = await fetch(url + '/api/' + path, {
      method,
      headers: { Authorization: 'Bearer ' + token, 'Content-Type': 'application/json', ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  // Restarts the server with the same data and address. `away` is called while no server runs.
  const restart = async (signal, away = () => {}) => {
    await end(signal);
    try {
      await away();
    } finally {
      await begin(new URL(url).port);
    }
  };
  const stop = async () => {
    await end('SIGTERM');
    rmSync(data, { recursive: true, force: true });
  };
  return { url, token, api, restart, stop };
}

// Starts a reverse proxy for `target` under the path `prefix`, which it removes and sends in a header.
export async function startProxy(target, prefix) {
  let leads = new URL(target);
  let isLost = () => false;
  const proxy = http.createServer((request, response) => {
    if (!request.url.startsWith(prefix)) {
      response.writeHead(404).end();
      return;
    }
    const onward = http.request({
      hostname: leads.hostname, port: leads.port, method: request.method, path: request.url.slice(prefix.length) || '/',
      headers: { ...request.headers, 'x-forwarded-prefix': prefix },
    }, (answer) => {
      if (isLost(request.url)) return;
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${proxy.address().port}${prefix}`,
    lead: (to) => { leads = new URL(to); },
    // Holds back the server's answers for the paths for which `which` is true; the clients wait.
    lose: (which) => { isLost = which; },
    // Closes all current connections. New connections are accepted.
    cut: () => proxy.closeAllConnections(),
    stop: () => { proxy.closeAllConnections(); proxy.close(); },
  };
}

export const startBrowser = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell', args: FLAGS });

// Opens a page for a new user, with an empty browser storage, and collects all errors in the page. `token`: signs the
// user in. `asked`: parts of the URLs for which the test expects errors.
export async function openPerson(browser, options = {}) {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: 860 },
    colorScheme: options.theme ?? 'light',
    locale: options.locale ?? 'en-GB',
    timezoneId: options.zone ?? 'UTC',
  });
  context.setDefaultTimeout(PATIENCE_MS);
  if (options.token) {
    await context.addInitScript((token) => sessionStorage.setItem('carillon.token', token), options.token);
  }
  const page = await context.newPage();
  const problems = [];
  const expected = options.asked ?? [];
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    if (expected.some((part) => message.location().url.includes(part))) return;
    problems.push(`${message.type()}: ${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (error) => problems.push('exception: ' + error.message));
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) =>
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
  });
  return { page, problems, close: () => context.close() };
}

// Runs `body` with a page for a new user, and checks that the page logged no error.
export async function withPerson(browser, options, body) {
  const person = await openPerson(browser, options);
  try {
    await body(person.page, person);
    assert.deepEqual(person.problems, [], 'the page logged nothing');
  } finally {
    // A handler of a route may still read the answer that it fetched, which ends with the page.
    await person.page.unrouteAll({ behavior: 'ignoreErrors' });
    await person.close();
  }
}

// Starts a server and a browser for all tests of a file. `prepare` runs before the first test. `person` gives a test a
// page that is signed in with the server's token, `guest` one that is not signed in; the test must close a
// page of `open`.
export function withServer(prepare = () => {}) {
  const server = {};
  let browser;
  before(async () => {
    await Promise.all([
      startServer().then((started) => Object.assign(server, started)),
      startBrowser().then((started) => { browser = started; }),
    ]);
    await prepare();
  });
  after(async () => {
    await browser?.close();
    await server.stop?.();
  });
  return {
    server,
    person: (options, body) => withPerson(browser, { token: server.token, ...options }, body),
    guest: (options, body) => withPerson(browser, options, body),
    open: (options) => openPerson(browser, options),
  };
}

export const heading = (page, name) => page.getByRole('heading', { level: 1, name }).waitFor();

// Returns the problems that axe finds in the current page. `rules`: only these rules, instead of all of WCAG.
export async function look(page, what, rules = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']) {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource);
  const found = await page.evaluate((runOnly) => globalThis.axe.run(document, { runOnly, resultTypes: ['violations'] }), rules);
  return found.violations.map((one) =>
    `${what}: ${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160) + ' ' + node.failureSummary).join('\n  ')}`);
}

// Signs in with a name and a password, on the page that was requested.
export async function signIn(page, name, password) {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation').first().waitFor();
}

// Returns all lines of the log in the page, by scrolling through it.
export const readLog = (page) => page.evaluate(async () => {
  const box = document.querySelector('[role=log]');
  const all = new Map();
  for (let top = 0; top <= box.scrollHeight; top += box.clientHeight / 2) {
    box.scrollTop = top;
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    for (const row of box.querySelectorAll('[data-line]')) all.set(Number(row.dataset.line), row.lastElementChild.textContent);
  }
  return [...all].sort((a, b) => a[0] - b[0]).map((one) => one[1]);
});

// Waits for the editor of a long text, which is a plain text area until it has been loaded. It draws only the lines near
// the window, so `text` makes the window high for a moment. `write` replaces the text; a `fill` would make the browser
// copy styles inline, which the policy forbids.
export async function editorOf(page, name) {
  const field = page.locator('.cm-content').and(page.getByRole('textbox', { name, exact: true }));
  await field.waitFor();
  const text = async () => {
    const size = page.viewportSize();
    await page.setViewportSize({ ...size, height: 6000 });
    await until(async () => (await field.locator('.cm-gap').count()) === 0, 'all lines');
    const lines = await field.locator('.cm-line').allTextContents();
    await page.setViewportSize(size);
    return lines.join('\n');
  };
  const write = async (all) => {
    await field.focus();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText(all);
  };
  return { field, text, write };
}

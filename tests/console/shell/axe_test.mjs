// Accessibility checks with axe: every page in both themes, empty, filled and failed, with its dialogs and menus. When
// one of these is closed, the focus must return to the element that opened it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { LONG, look, startBrowser, startServer, until, withPerson } from '../support/server.mjs';

// The themes are alternatives of the style sheet: the elements of a page are the same in both, only colours differ. So a
// page is loaded once, and then changes its theme. In dark, the short form checks only the rules about colours, and few of
// the pages that are empty or failed, and of what opens over a page.
const COLOURS = ['color-contrast', 'link-in-text-block'];
const some = (all) => (LONG ? all : all.slice(0, 5));

const ground = (page) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);

async function lookInBoth(page, what) {
  const told = await look(page, what);
  const light = await ground(page);
  // Without transitions, so that no colour is on its way from one theme to the other.
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  assert.notEqual(await ground(page), light, what + ' has the colours of the dark theme');
  told.push(...(await look(page, what + ', dark', LONG ? undefined : COLOURS)));
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: null });
  return told;
}

let empty;
let filled;
let browser;
let run;
let bulk;
let executor;
before(async () => {
  [empty, filled, browser] = await Promise.all([startServer(), startServer(), startBrowser()]);
  for (const [name, role] of [['anna', 'admin'], ['uma', 'user']]) {
    const shares = role === 'user' ? [{ namespace: 'payroll' }, { namespace: '*', selector: 'team = x' }] : [];
    await filled.api('POST', 'users', { name, role, password: 'correct horse battery', shares });
  }
  await filled.api('POST', 'jobs', { job_id: 'green', name: 'Green', command: "printf '\\033[31mred\\033[0m\\n'", cron_expression: '*/10 * * * *', labels: { team: 'x' } });
  await filled.api('PATCH', 'jobs/green', { description: 'second' }, { 'If-Match': '"v1"' });
  await filled.api('POST', 'jobs', { job_id: 'red', name: 'Red', command: 'exit 3' });
  await filled.api('POST', 'jobs', { job_id: 'idle', name: 'Idle', command: 'true', enabled: false });
  await filled.api('POST', 'jobs', { job_id: 'last', name: 'Last', command: 'true', schedules: [{ kind: 'after', job: 'idle', on: 'failure' }] });
  await filled.api('POST', 'secrets', { name: 'shop_db', value: 'correct horse battery', description: 'the shop' });
  await filled.api('PUT', 'groups/db', { limit: 2 });
  await filled.api('PUT', 'calendars/office', { time_zone: 'UTC', weekdays: ['mon'], except: ['2026-12-25'] });
  ({ run_id: run } = await filled.api('POST', 'jobs/green/execute', {}));
  await filled.api('POST', 'jobs/red/execute', {});
  await filled.api('POST', 'jobs', { job_id: 'paid', name: 'Paid', command: 'true', namespace: 'payroll' });
  ({ bulk_id: bulk } = await filled.api('POST', 'bulk', { action: 'resume', kind: 'job', ids: ['paid', 'no-such-job'], reason: 'back', background: true }));
  await until(async () => (await filled.api('GET', 'runs?state=FAILED&state=COMPLETED')).items.length >= 2, 'two runs');
  [{ executor_id: executor }] = (await filled.api('GET', 'executors')).items;
});
after(async () => {
  await browser?.close();
  await empty?.stop();
  await filled?.stop();
});

const LISTS = ['/', '/jobs', '/jobs/new', '/import', '/workflows', '/runs', '/gaps', '/events', '/bulk', '/bulk?state=STOPPED', '/backfills', '/schedule', '/schedule?view=week', '/executors', '/system', '/admin/users',
  '/admin/tokens', '/admin/secrets', '/groups', '/calendars', '/calendars?new=yes', '/admin/deliveries', '/admin/dead-letters', '/admin/audit', '/account', '/no-such-page'];
const filledPages = () => [...LISTS, '/jobs?q=nothing-like-it', '/runs?state=LOST', '/jobs/green', '/jobs/green?tab=runs',
  '/jobs/green?tab=configuration', '/jobs/last', '/jobs/idle?tab=dependencies', '/jobs/last?tab=dependencies', '/jobs/last/edit', '/jobs/green?tab=versions&version=2&against=1', '/jobs/green?tab=why&at=2020-01-01T00:00:00Z',
  '/groups/db', '/calendars/office', '/jobs/green?tab=audit', '/jobs/green/edit', '/executors/' + executor, '/runs/' + run, '/jobs?namespace=payroll', '/bulk/' + bulk, '/bulk/' + bulk + '?result=error', '/schedule?zone=UTC&date=2099-03-02&hour=2099-03-02T03:00:00Z',
  '/schedule?zone=UTC&pause_from=2099-03-02T03:00:00Z&pause_until=2099-03-02T05:00:00Z'];

// Fails if a page was added to the console but not to these checks.
test('axe visits every page', () => {
  const router = readFileSync(new URL('../../../web-ui/src/app/router.tsx', import.meta.url), 'utf8');
  const routes = [...router.matchAll(/^ {2}path: '([^']*)'/gm)].map(([, path]) => path).filter((path) => path !== '/admin'); // redirects
  assert.ok(routes.length > 15);
  const looked = filledPages().map((path) => path.split('?')[0]);
  const left = routes.filter((route) => {
    const shape = new RegExp('^' + route.replaceAll(/\$\w+/g, '[^/]+') + '$');
    return !looked.some((path) => shape.test(path) && (path === route || !routes.includes(path)));
  });
  assert.deepEqual(left, []);
});

const settled = async (page) => {
  await page.locator('h1, [role=alert]').first().waitFor();
  await until(async () => (await page.getByText('Loading…').count()) === 0, 'the page');
};

// `dark`: the paths that are also checked in dark.
async function lookAll(server, paths, dark, prepare = async () => {}) {
  await withPerson(browser, { token: server.token, asked: ['/api/'] }, async (page) => {
    await prepare(page);
    const told = [];
    for (const path of paths) {
      await page.goto(server.url + path);
      await settled(page);
      told.push(...(await (dark.includes(path) ? lookInBoth : look)(page, path)));
    }
    assert.deepEqual(told, []);
  });
}

describe('axe finds nothing', () => {
  test('axe finds nothing on pages with content', () => lookAll(filled, filledPages(), filledPages()));
  // What a page shows when it has nothing, or cannot load it, is the same on most of them.
  const each = (paths, n) => (LONG ? paths : paths.filter((_path, i) => i % n === 0));
  const failing = () => each(filledPages(), 3);
  test('axe finds nothing on empty pages', () => lookAll(empty, each(LISTS, 2), some(LISTS)));
  test('axe finds nothing on pages that cannot load', () => lookAll(filled, failing(), some(failing()), (page) =>
    page.route('**/api/**', (route) => route.fulfill({
      status: 422, contentType: 'application/problem+json',
      body: JSON.stringify({ status: 422, code: 'contradiction', title: 'no', detail: 'Not now.', trace_id: 'abc', errors: [] }),
    }))));
  test('axe finds nothing before the sign-in', async () => {
    await withPerson(browser, { asked: ['/api/'] }, async (page) => {
      for (const path of ['/', '/setup#token=abc']) {
        await page.goto(filled.url + path);
        await page.locator('form').waitFor();
        assert.deepEqual(await lookInBoth(page, path), []);
      }
    });
  });
  test('axe finds nothing on a page opened in dark', async () => {
    await withPerson(browser, { token: filled.token, theme: 'dark' }, async (page) => {
      await page.goto(filled.url + '/jobs');
      await settled(page);
      assert.deepEqual(await look(page, '/jobs, opened in dark'), []);
    });
  });
});

// [page, the button that opens something, the selector of what opens]
const OVERLAYS = [
  ['/jobs', { name: 'More actions for Green' }, '[role=menu]'],
  ['/jobs/green', { name: 'Pause', exact: true }, '.dialog'],
  ['/jobs/green', { name: 'Delete' }, '.dialog'],
  ['/jobs/green?tab=versions', { name: 'Revert to version 1' }, '.dialog'],
  ['/admin/users', { name: 'New user' }, '.dialog'],
  ['/admin/users', { name: 'Edit uma' }, '.dialog'],
  ['/admin/users', { name: 'Set a new password for uma' }, '.dialog'],
  ['/admin/users', { name: 'Delete uma' }, '.dialog'],
  ['/admin/tokens', { name: 'New token' }, '.dialog'],
  ['/admin/tokens', { name: /^Revoke/ }, '.dialog'],
  ['/admin/secrets', { name: 'New secret' }, '.dialog'],
  ['/admin/secrets', { name: 'Edit shop_db' }, '.dialog'],
  ['/admin/secrets', { name: 'Delete shop_db' }, '.dialog'],
  ['/groups', { name: 'New group' }, '.dialog'],
  ['/groups', { name: 'Change limit of db' }, '.dialog'],
  ['/groups', { name: 'Delete db' }, '.dialog'],
  ['/calendars/office', { name: 'Delete' }, '.dialog'],
  ['/admin/deliveries', { name: 'Send a test notification' }, '.dialog'],
  ['/admin/dead-letters', { name: /^Retry run .* of red$/ }, '.dialog'],
  ['/admin/dead-letters', { name: /^Discard run .* of red$/ }, '.dialog'],
  ['/system', { name: 'Change retention_days' }, '.dialog'],
  ['/system', { name: 'Pause the cluster…' }, '.dialog'],
  ['/executors', { name: 'Labels' }, '.dialog'],
  ['/executors', { name: 'Drain' }, '.dialog'],
  ['/executors', { name: 'Add an executor' }, '.dialog'],
];

test('axe finds nothing in dialogs and menus, and closing restores the focus', async () => {
  await withPerson(browser, { token: filled.token, asked: [] }, async (page) => {
    const told = [];
    for (const overlay of OVERLAYS) {
      const [path, button, opened] = overlay;
      await page.goto(filled.url + path);
      const opener = page.getByRole('button', button).first();
      await opener.focus();
      await page.keyboard.press('Enter');
      await page.locator(opened).waitFor();
      const what = `${path} ${button.name}`;
      told.push(...(await (some(OVERLAYS).includes(overlay) ? lookInBoth : look)(page, what)));
      await until(() => page.evaluate((selector) => document.querySelector(selector)?.contains(document.activeElement), opened), what + ': the focus inside');
      await page.keyboard.press('Escape');
      await page.locator(opened).waitFor({ state: 'detached' });
      await until(() => opener.evaluate((element) => element === document.activeElement), what + ': the focus back')
        .catch((error) => told.push(error.message));
    }
    assert.deepEqual(told, []);
  });
});

test('axe finds nothing in the palette, the shortcuts and the settings', async () => {
  await withPerson(browser, { token: filled.token }, async (page) => {
    await page.goto(filled.url + '/jobs');
    await page.getByRole('link', { name: 'Green' }).waitFor();
    const opener = page.getByRole('link', { name: 'Green' });
    await opener.focus();
    const told = [];
    for (const key of ['Control+k', '?']) {
      await page.keyboard.press(key);
      await page.locator('[role=dialog]').first().waitFor();
      told.push(...(await lookInBoth(page, key)));
      await page.keyboard.press('Escape');
      await page.locator('[role=dialog]').first().waitFor({ state: 'detached' });
      await until(() => opener.evaluate((element) => element === document.activeElement), key + ': the focus back')
        .catch((error) => told.push(error.message));
    }
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByRole('group', { name: 'Settings' }).waitFor();
    told.push(...(await lookInBoth(page, 'settings')));
    assert.deepEqual(told, []);
  });
});

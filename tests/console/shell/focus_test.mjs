// The order in which Tab moves through every page is the recorded one. On a small screen the focused element, and
// everything that opens, must not be covered by bars at the edges.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { LONG, until, withServer } from '../support/server.mjs';

// {page: [the elements that Tab reaches, in order]}. `./dev regen` writes this file.
const KNOWN = new URL('focus_order.json', import.meta.url);
const STOPS_MAX = 150;

let run;
const { server, person } = withServer(async () => {
  await until(async () => (await server.api('GET', 'executors')).items.length > 0, 'the executor');
  await server.api('POST', 'users', { name: 'uma', role: 'user', password: 'correct horse battery' });
  await server.api('POST', 'secrets', { name: 'shop_db', value: 'correct horse battery' });
  for (const id of ['backup', 'report']) {
    await server.api('POST', 'jobs', { job_id: id, name: 'Job ' + id, command: 'echo one', labels: { team: 'x' } });
  }
  ({ run_id: run } = await server.api('POST', 'jobs/backup/execute', {}));
  await until(async () => (await server.api('GET', 'runs/' + run)).state === 'COMPLETED', 'the run');
});

const PAGES = () => ['/', '/jobs', '/jobs/new', '/import', '/workflows', '/jobs/backup', '/jobs/backup?tab=runs', '/jobs/backup?tab=versions', '/jobs/backup?tab=why',
  '/jobs/backup/edit', '/runs', '/runs/' + run, '/bulk', '/schedule', '/executors', '/system', '/admin/users', '/admin/tokens', '/admin/secrets', '/groups', '/calendars', '/calendars?new=yes',
  '/admin/deliveries', '/admin/dead-letters', '/admin/audit', '/account', '/gaps', '/events'];

const settled = async (page) => {
  await page.locator('h1').first().waitFor();
  await page.waitForLoadState('networkidle');
  await until(async () => (await page.getByText('Loading…').count()) === 0, 'the page');
};
// Preferences that keep a page steady: times in UTC, and no live updates.
const steadily = (page) => page.addInitScript(() => localStorage.setItem('carillon.preferences', JSON.stringify({ time: 'utc', live: false })));

// Describes the focused element: "button: Run now". Null if the focus has left the page.
const focused = (page) => page.evaluate(() => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  const text = (element) => (element?.innerText ?? '').trim();
  const labelled = one.getAttribute('aria-labelledby')?.split(' ').map((id) => text(document.getElementById(id))).join(' ');
  const name = labelled || one.getAttribute('aria-label') || text(one.labels?.[0]) || text(one) || one.title || one.placeholder || '';
  const kind = one.getAttribute('role') ?? (one.tagName === 'INPUT' ? one.type : one.tagName.toLowerCase());
  const words = name.split(/\s+/).map((word) => (/\d/.test(word) ? '#' : word)).join(' ');
  return `${kind}: ${words.replace(/# (ms|s|min|h)\b/g, '#').replace(/(# )+#/g, '#').slice(0, 60)}`;
});

async function stopsOf(page) {
  const stops = [];
  while (stops.length < STOPS_MAX) {
    await page.keyboard.press('Tab');
    const stop = await focused(page);
    if (stop === null) break;
    stops.push(stop);
  }
  return stops;
}

test('Tab visits the elements of each page in the recorded order', async () => {
  await person({}, async (page) => {
    await steadily(page);
    const seen = {};
    // The short form looks at every second page.
    const all = LONG || process.env.CARILLON_REGEN;
    for (const path of PAGES().filter((_path, i) => all || i % 2 === 0)) {
      await page.goto(server.url + path);
      await settled(page);
      const stops = await stopsOf(page);
      assert.ok(stops.length > 5 && stops.length < STOPS_MAX, `${path}: ${stops.length} stops`);
      assert.deepEqual(stops.filter((stop) => stop.endsWith(': ')), [], path + ': nothing is without a name');
      seen[path.replace(run, '#')] = stops;
    }
    if (process.env.CARILLON_REGEN) writeFileSync(KNOWN, JSON.stringify(seen, null, 1) + '\n');
    const known = JSON.parse(readFileSync(KNOWN, 'utf8'));
    assert.deepEqual(seen, all ? known : Object.fromEntries(Object.keys(seen).map((path) => [path, known[path]])));
  });
});

// True if at least one of nine points of the focused element is in the window and not covered by another element.
const inSight = (page) => page.evaluate(() => {
  const one = document.activeElement;
  const target = one.type === 'checkbox' || one.type === 'radio' ? one.closest('label') ?? one : one;
  const box = target.getBoundingClientRect();
  const parts = [0.1, 0.5, 0.9];
  return parts.some((x) => parts.some((y) => {
    const at = document.elementFromPoint(box.left + box.width * x, box.top + box.height * y);
    return at !== null && (target.contains(at) || at.contains(target) && at !== document.body && at !== document.documentElement);
  }));
});

test('the focused element is never covered by sticky elements on a phone', async () => {
  await person({ width: 360 }, async (page) => {
    await steadily(page);
    await page.setViewportSize({ width: 360, height: 640 });
    const hidden = [];
    for (const path of ['/jobs/new', '/jobs', '/jobs/backup', '/schedule', '/system']) {
      await page.goto(server.url + path);
      await settled(page);
      for (const key of ['Tab', 'Shift+Tab']) {
        for (let i = 0; i < STOPS_MAX; ++i) {
          await page.keyboard.press(key);
          const stop = await focused(page);
          if (stop === null) break;
          if (!(await inSight(page))) hidden.push(`${path} ${key} ${stop}`);
        }
      }
    }
    assert.deepEqual(hidden, []);
  });
});

// Returns the points of the element that are in the window but covered by another element.
const whole = (page, selector) => page.locator(selector).last().evaluate((one) => {
  const box = one.getBoundingClientRect();
  const wrong = [];
  for (let x = 0.05; x < 1; x += 0.15) {
    for (let y = 0.05; y < 1; y += 0.15) {
      const [left, top] = [box.left + box.width * x, box.top + box.height * y];
      if (left < 0 || top < 0 || left > innerWidth || top > innerHeight) continue;
      const at = document.elementFromPoint(left, top);
      if (!one.contains(at)) wrong.push(`${Math.round(left)},${Math.round(top)}: ${at?.outerHTML.slice(0, 80)}`);
    }
  }
  return wrong;
});

test('menus and dialogs cover everything, even sticky elements', async () => {
  await person({ width: 360 }, async (page) => {
    await steadily(page);
    for (const size of [{ width: 360, height: 640 }, { width: 1280, height: 400 }]) {
      await page.setViewportSize(size);
      for (const [path, button, opened] of [
        ['/jobs', { name: 'More actions for Job report' }, '[role=menu]'],
        ['/jobs', { name: 'Columns' }, '[role=group][id]'],
        ['/jobs/backup', { name: 'Delete' }, '.dialog'],
        ['/system', { name: 'Pause the cluster…' }, '.dialog'],
        ['/executors', { name: 'Add an executor' }, '.dialog'],
      ]) {
        await page.goto(server.url + path);
        await settled(page);
        const opener = page.getByRole('button', button).filter({ visible: true }).first();
        await opener.scrollIntoViewIfNeeded();
        await opener.click();
        await page.locator(opened).last().waitFor();
        assert.deepEqual(await whole(page, opened), [], `${path} ${button.name} ${size.width}`);
      }
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+k');
      await page.locator('.dialog').last().waitFor();
      assert.deepEqual(await whole(page, '.dialog'), [], 'the palette ' + size.width);
    }
  });
});

test('a dialog focuses its answer, and Enter in its field confirms', async () => {
  await person({}, async (page) => {
    await steadily(page);
    await page.goto(server.url + '/jobs/report');
    await settled(page);
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.locator('.dialog').waitFor();
    await until(async () => /^(text|textbox)/.test((await focused(page)) ?? ''), 'the focus on the reason');
    await page.keyboard.type('Warehouse is down');
    await page.keyboard.press('Enter');
    await page.locator('.dialog').waitFor({ state: 'detached' });
    await until(async () => (await server.api('GET', 'jobs/report')).pause_reason === 'Warehouse is down', 'the pause');
    await server.api('POST', 'jobs/report/resume', {});

    await page.goto(server.url + '/jobs/report');
    await settled(page);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.locator('.dialog').waitFor();
    await until(async () => (await focused(page)) === 'button: Cancel', 'the focus on Cancel');
    await page.keyboard.press('Enter');
    await page.locator('.dialog').waitFor({ state: 'detached' });
    assert.equal((await server.api('GET', 'jobs/report')).state, 'ENABLED');

    await page.goto(server.url + '/admin/users');
    await settled(page);
    await page.getByRole('button', { name: 'New user' }).click();
    await page.locator('.dialog').waitFor();
    await until(async () => /^(text|textbox)/.test((await focused(page)) ?? ''), 'the focus on the first field');
  });
});

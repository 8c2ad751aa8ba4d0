// Addresses of lists: another user who opens one sees the same rows in the same order, with their own session,
// language and time zone.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { until, withServer } from '../support/server.mjs';

const password = 'correct horse battery';
let owner;
const { server, person, guest } = withServer(async () => {
  owner = (await server.api('POST', 'users', { name: 'anna', role: 'admin', password })).user_id;
  await server.api('POST', 'users', { name: 'uma', role: 'user', password });
  await server.api('POST', 'apply', Array.from({ length: 30 }, (_, i) => ({
    // The order by name differs from the order by id.
    job_id: `etl-${String(i).padStart(2, '0')}`, name: `Load ${String((i * 7) % 30).padStart(2, '0')}`, command: i % 2 ? 'exit 3' : 'true',
    retry_count: 0, enabled: i % 5 !== 0, labels: { team: i % 3 ? 'etl' : 'web' }, namespace: i < 15 ? 'payroll' : 'default', user_id: owner,
  })));
});
const as = (name, path, options, body) => guest({ asked: ['/api/auth/'], ...options }, async (page) => {
  await page.goto(server.url + path);
  await page.locator('input[autocomplete=username]').fill(name);
  await page.locator('input[autocomplete=current-password]').fill(password);
  await page.keyboard.press('Enter');
  await body(page);
});
const addressOf = (page) => page.url().slice(server.url.length);
const rowsOf = (page) => page.locator('tr[data-row]').evaluateAll((rows) => rows.map((row) => row.dataset.row));
const shows = (page, rows, what) => until(async () => JSON.stringify(await rowsOf(page)) === JSON.stringify(rows), what);
// Performs an action in the page, and returns what the page shows after it.
async function after(page, act) {
  const before = JSON.stringify(await rowsOf(page));
  await act();
  await until(async () => JSON.stringify(await rowsOf(page)) !== before && (await rowsOf(page)).length > 0, 'other rows');
  return { address: addressOf(page), rows: await rowsOf(page) };
}
// Goes back and forward through all states that were shown, with a reload in the middle.
async function walk(page, steps) {
  const at = async (step, how) => {
    await shows(page, step.rows, `${how} at ${step.address}`);
    assert.equal(addressOf(page), step.address, how);
  };
  for (const step of steps.slice(0, -1).toReversed()) {
    await page.goBack();
    await at(step, 'back');
  }
  await page.reload();
  await at(steps[0], 'reload');
  for (const step of steps.slice(1)) {
    await page.goForward();
    await at(step, 'forward');
  }
}
const headersOf = (page) => page.locator('tbody tr').first().locator('td').evaluateAll((cells) => cells.map((cell) => cell.dataset.column));

describe('the address of jobs', () => {
  test('jobs: a filtered and sorted address shows the same after back, forward, reload and for others', async () => {
    let shared;
    let usual;
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs');
      await page.locator('tr[data-row]').first().waitFor();
      usual = await headersOf(page);
      const steps = [{ address: '/jobs', rows: await rowsOf(page) }];
      const step = async (act) => steps.push(await after(page, act));
      await step(async () => {
        await page.getByLabel('Filter by labels').fill('team = etl');
        await page.keyboard.press('Enter');
      });
      await step(() => page.getByRole('button', { name: 'Enabled', exact: true }).click());
      await step(() => page.getByRole('columnheader', { name: 'Job' }).getByRole('button').click());
      await step(() => page.getByRole('columnheader', { name: 'Job' }).getByRole('button').click());
      await walk(page, steps);
      // The choice of columns is stored in the browser, and is not part of the address.
      await page.getByRole('button', { name: 'Columns' }).click();
      await page.getByRole('group', { name: 'Columns' }).getByLabel('Changed').check();
      await until(async () => (await headersOf(page)).includes('changed'), 'the column');
      shared = steps.at(-1);
      assert.equal(shared.address, addressOf(page));
    });
    const expected = (await server.api('GET', 'jobs?page_size=500')).items
      .filter((one) => one.labels.team === 'etl' && one.state === 'ENABLED')
      .toSorted((a, b) => (a.name < b.name ? 1 : -1)).map((one) => one.job_id);
    assert.deepEqual(shared.rows, expected);
    for (const [name, options] of [['uma', {}], ['anna', { locale: 'zh-CN', zone: 'Asia/Tokyo' }]]) {
      await as(name, shared.address, options, async (page) => {
        await shows(page, expected, 'the same rows for ' + name);
        assert.equal(addressOf(page), shared.address);
        assert.equal(await page.locator('th[aria-sort]').getAttribute('aria-sort'), 'descending');
        assert.deepEqual(await headersOf(page), usual);
        await page.reload();
        await shows(page, expected, 'the same after a reload');
      });
    }
  });

  test('jobs: an address with page size, namespace, owner and search shows the same for others', async () => {
    const address = `/jobs?q=Load&namespace=payroll&user_id=${owner}&page_size=20&sort=name`;
    const expected = (await server.api('GET', 'jobs?namespace=payroll&sort=name&page_size=500')).items.map((one) => one.job_id);
    assert.equal(expected.length, 15);
    for (const name of ['anna', 'uma']) {
      await as(name, address, {}, async (page) => {
        await shows(page, expected, 'the same rows for ' + name);
        assert.equal(await page.getByRole('searchbox').first().inputValue(), 'Load');
        assert.equal(await page.getByLabel('Rows per page').inputValue(), '20');
        assert.equal(await page.getByLabel('Owner', { exact: true }).inputValue(), owner);
      });
    }
  });
});

describe('the address of runs', () => {
  before(async () => {
    const ids = (await server.api('GET', 'jobs?page_size=500&status=ENABLED')).items.map((one) => one.job_id);
    for (const id of ids) await server.api('POST', `jobs/${id}/execute`, {});
    await until(async () => (await server.api('GET', 'runs?state=COMPLETED&state=FAILED&page_size=500')).items.length === ids.length, 'the runs');
  });

  test('runs: a filtered and sorted address shows the same after back, forward, reload and for others', async () => {
    let shared;
    const all = (await server.api('GET', 'runs?page_size=500')).items;
    const middle = all[Math.floor(all.length / 2)].fire_time;
    await person({}, async (page) => {
      await page.goto(`${server.url}/runs?since=${encodeURIComponent(middle)}`);
      await page.locator('tr[data-row]').first().waitFor();
      const steps = [{ address: addressOf(page), rows: await rowsOf(page) }];
      const step = async (act) => steps.push(await after(page, act));
      await step(() => page.getByRole('button', { name: 'Failed', exact: true }).click());
      await step(() => page.getByRole('columnheader', { name: 'Fire' }).getByRole('button').click());
      await walk(page, steps);
      shared = steps.at(-1);
    });
    const expected = all.filter((one) => one.state === 'FAILED' && one.fire_time >= middle).map((one) => one.run_id).toReversed();
    assert.ok(expected.length > 1);
    assert.deepEqual(shared.rows, expected);
    for (const [name, options] of [['uma', { zone: 'America/New_York' }], ['anna', { locale: 'zh-CN', zone: 'Asia/Tokyo' }]]) {
      await as(name, shared.address, options, async (page) => {
        await shows(page, expected, 'the same rows for ' + name);
        assert.equal(addressOf(page), shared.address);
        assert.equal(await page.locator('[aria-pressed=true]', { hasText: options.locale ? '失败' : 'Failed' }).count(), 1);
        assert.equal(await page.locator('th[aria-sort]').getAttribute('aria-sort'), 'ascending');
      });
    }
  });
});

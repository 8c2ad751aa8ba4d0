// The list of jobs, filtered by labels and owner, with a number of rows per page; all of it is in the address.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { look, signIn, until, withServer } from '../support/server.mjs';

const password = 'correct horse battery';
let anna;
const { server, person, guest } = withServer(async () => {
  anna = await server.api('POST', 'users', { name: 'anna', role: 'admin', password });
  await server.api('POST', 'users', { name: 'uma', role: 'user', password });
  for (let i = 0; i < 30; ++i) {
    await server.api('POST', 'jobs', { job_id: 'etl-' + i, name: 'Etl ' + i, command: 'true', labels: { team: 'etl', old: i % 10 === 0 ? 'yes' : 'no' }, ...(i < 3 ? { user_id: anna.user_id } : {}) });
  }
  await server.api('POST', 'jobs', { job_id: 'web', name: 'Web', command: 'true', labels: { team: 'web' } });
});

const rows = (page) => page.locator('tr[data-row]').count();
const shows = (page, n) => until(async () => (await rows(page)) === n, n + ' rows');
const searchOf = (page) => Object.fromEntries(new URL(page.url()).searchParams);

describe('the jobs', () => {
  test('the label filter is set by click, by typing and by the address', async () => {
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs');
      await page.locator('[data-row=web]').getByRole('link', { name: 'team=web' }).click();
      await shows(page, 1);
      assert.deepEqual(searchOf(page), { selector: 'team=web' });
      await page.getByRole('button', { name: 'Remove the filter team=web' }).click();
      await shows(page, 31);
      await page.getByLabel('Filter by labels').fill('team = etl, old = yes');
      await page.keyboard.press('Enter');
      await shows(page, 3);
      assert.deepEqual(await page.getByRole('list', { name: 'Filtered by' }).locator('li').allInnerTexts(), ['team = etl', 'old = yes']);
      assert.deepEqual(await look(page, 'chips'), []);
      await page.goBack();
      await shows(page, 31);
      await page.goto(server.url + '/jobs?selector=team=etl,!old');
      await page.getByText('No matches').waitFor();
    });
  });

  test('an invalid selector is reported and can be removed', async () => {
    await person({ asked: ['selector='] }, async (page) => {
      await page.goto(server.url + '/jobs?selector=team%20%3D');
      await page.getByRole('alert').first().waitFor();
      await page.getByRole('button', { name: 'Remove the filter team =' }).click();
      await shows(page, 31);
    });
  });

  test('the owner filter offers names to people who may read users, and “My jobs” to all', async () => {
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs');
      await page.getByLabel('Owner').selectOption('anna');
      await shows(page, 3);
      assert.deepEqual(searchOf(page), { user_id: anna.user_id });
      await page.getByRole('button', { name: 'Remove the filter Owner: anna' }).click();
      await shows(page, 31);
    });
    await guest({ asked: ['/api/auth/'] }, async (page) => {
      await page.goto(server.url + '/jobs');
      await signIn(page, 'uma', password);
      const owner = page.getByLabel('Owner');
      assert.deepEqual(await owner.locator('option').allInnerTexts(), ['All owners', 'My jobs']);
    });
  });

  test('the page size is part of a saved view, and a bulk action ignores it', async () => {
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs?selector=team%3Detl&page_size=20');
      await shows(page, 20);
      assert.equal(await page.getByLabel('Rows per page').inputValue(), '20');
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByLabel('Save filters as').fill('our etl');
      await page.keyboard.press('Enter');
      await page.goto(server.url + '/jobs');
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByRole('link', { name: 'our etl' }).click();
      await shows(page, 20);
      assert.deepEqual(searchOf(page), { selector: 'team=etl', page_size: '20' });
      await page.getByLabel('Select all 20 shown').check();
      await page.getByRole('button', { name: 'Select all matches' }).click();
      await page.getByText('All 30 matches are selected').waitFor();
      await page.getByLabel('Rows per page').selectOption('100');
      await shows(page, 30);
    });
  });

  test('the job filters fit a phone in Chinese, and axe finds nothing', async () => {
    await person({ width: 360, locale: 'zh-CN', theme: 'dark' }, async (page) => {
      await page.goto(server.url + '/jobs?selector=team%3Detl');
      await page.getByRole('list', { name: '筛选条件' }).waitFor();
      await shows(page, 30);
      assert.deepEqual(await look(page, 'phone'), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'no sideways scrolling');
    });
  });
});

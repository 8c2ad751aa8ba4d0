// Dead letters: users find, retry and discard them, in a real browser against a real server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heading, look, until, withServer } from '../support/server.mjs';

const letters = async () => (await server.api('GET', 'dead-letters')).items;
const { server, person } = withServer();
const fail = async (id) => {
  await server.api('POST', 'jobs', { job_id: id, name: 'Job ' + id, command: 'exit 3' });
  await server.api('POST', `jobs/${id}/execute`, {});
  await until(async () => (await letters()).some((one) => one.job_id === id), 'its dead letter');
};

test('dead letters: the overview links to a job’s; they are retried, discarded, and discarded together', async () => {
  await fail('first');
  await fail('second');
  await fail('third');
  await server.api('POST', 'jobs/third/execute', {});
  await until(async () => (await letters()).filter((one) => one.job_id === 'third').length === 2, 'its second dead letter');
  await person({}, async (page) => {
    await page.goto(server.url + '/');
    await page.getByRole('listitem').filter({ hasText: 'Job first: the last run failed' }).getByRole('link', { name: 'View' }).click();
    await heading(page, 'Dead letters');
    assert.equal(new URL(page.url()).search, '?job_id=first');
    await page.getByRole('link', { name: 'first', exact: true }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'second', exact: true }).count(), 0);
    await page.getByLabel('Exact job ID').fill('nobody');
    await page.getByText('No matches').waitFor();
    assert.deepEqual(await look(page, 'no match'), []);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('link', { name: 'second', exact: true }).waitFor();
    assert.deepEqual(await look(page, 'dead letters'), []);
    await page.getByRole('heading', { name: 'Failing jobs · 3' }).waitFor();
    await page.getByRole('button', { name: 'Discard all dead letters of third' }).click();
    const all = page.getByRole('dialog');
    await all.getByText('2 of 2 dead letters can be discarded').waitFor();
    assert.deepEqual(await look(page, 'the question about all'), []);
    await all.getByRole('button', { name: 'Discard' }).click();
    await all.getByText('2 done, 0 failed').waitFor();
    await all.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('heading', { name: 'Failing jobs · 2' }).waitFor();

    const [before] = (await letters()).filter((one) => one.job_id === 'first');
    await page.getByRole('button', { name: /^Retry run .* of first$/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The run has used 1 attempt', { exact: false }).waitFor();
    assert.deepEqual(await look(page, 'the question'), []);
    await dialog.getByRole('button', { name: 'Retry' }).click();
    await dialog.waitFor({ state: 'detached' });
    // The run fails again and gets a new dead letter.
    await until(async () => (await letters()).some((one) => one.job_id === 'first' && one.id !== before.id), 'its return');
    assert.equal((await server.api('GET', 'runs/' + before.run_id)).attempt, 2);
    await page.getByRole('row', { name: /first/ }).locator('[data-column=tries]').filter({ hasText: '2' }).waitFor();

    await page.getByRole('button', { name: /^Discard run .* of second$/ }).click();
    await dialog.getByRole('button', { name: 'Discard' }).click();
    // The row may disappear for a moment, because the list is read again.
    await until(async () => JSON.stringify((await letters()).map((one) => one.job_id)) === '["first"]', 'only the first is left');
    await page.getByRole('link', { name: 'second', exact: true }).waitFor({ state: 'detached' });
  });
});

test('dead letters: another user’s cannot be discarded, on a phone, in Chinese', async () => {
  const password = 'correct horse battery';
  // Without an administrator the sign-in page asks for a token.
  await server.api('POST', 'users', { name: 'anna', role: 'admin', password });
  await server.api('POST', 'users', { name: 'uma', role: 'user', password });
  await person({ token: undefined, locale: 'zh-CN', width: 360, theme: 'dark', asked: ['/api/auth/'] }, async (page) => {
    await page.goto(server.url + '/admin/dead-letters');
    await page.locator('input[autocomplete=username]').fill('uma');
    await page.locator('input[type=password]').fill(password);
    await page.locator('form button[type=submit]').click();
    await heading(page, '死信');
    await page.getByRole('button', { name: /^丢弃 first 的运行/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('alert').waitFor();
    assert.equal(await dialog.getByRole('button', { name: '丢弃' }).count(), 0);
    assert.deepEqual(await look(page, 'not hers'), []);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wide <= 0, `${wide} px too wide`);
  });
  assert.equal((await letters()).length, 1);
});

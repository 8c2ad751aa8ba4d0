// The first minutes of a user who has just started a server: from the one-time link to the first successful run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer, withServer } from '../support/server.mjs';

const CLICKS_MAX = 5;
const WALL_MS_MAX = 60_000;
const KEY_MS = 80; // the time between two keys of a person who types
const { server, person, guest } = withServer();

// Counts the clicks: all actions with the mouse use this function.
function counting(page) {
  let clicks = 0;
  return {
    click: async (locator) => {
      clicks += 1;
      await locator.click();
    },
    type: (text) => page.keyboard.type(text, { delay: KEY_MS }),
    press: (key) => page.keyboard.press(key),
    clicks: () => clicks,
  };
}

test('first run: a minute and five clicks lead from the setup link to a green run', async () => {
  const { path } = await server.api('POST', 'auth/setup-link');
  await guest({ asked: ['/api/auth/setup'] }, async (page) => {
    const began = performance.now();
    const hand = counting(page);
    await page.goto(server.url + path);
    await hand.click(page.getByLabel('Name'));
    await hand.type('anna');
    for (const _ of [1, 2]) {
      await hand.press('Tab');
      await hand.type('correct horse battery');
    }
    await hand.press('Enter');
    await page.getByRole('heading', { name: 'Get started' }).waitFor();
    await page.locator('[data-done=true]', { hasText: 'An executor is online' }).waitFor();
    await hand.click(page.getByRole('button', { name: 'Create and run' }));
    await page.waitForURL('**/runs/*');
    await page.locator('h1 [data-state=COMPLETED]').waitFor();
    const spent = performance.now() - began;
    assert.ok(hand.clicks() <= CLICKS_MAX, `${hand.clicks()} clicks`);
    assert.ok(spent <= WALL_MS_MAX, `${spent} ms`);
    await page.getByRole('log').getByText('Hello from Carillon').waitFor();
  });
  await guest({ asked: ['/api/auth/'] }, async (page) => {
    await page.goto(server.url + path);
    await page.getByLabel('Name').fill('eve');
    await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
    await page.getByLabel('Repeat the password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Create administrator' }).click();
    await page.getByRole('alert').waitFor();
  });
});

test('first run: the sample stays paused, and the card remains until there is another job', async () => {
  const [sample] = (await server.api('GET', 'jobs')).items;
  assert.equal(sample.state, 'PAUSED');
  await person({}, async (page) => {
    await page.goto(server.url + '/');
    await page.locator('[data-done=true]', { hasText: 'Watch the run succeed' }).waitFor();
    await page.getByRole('link', { name: 'Edit the schedule' }).waitFor();
    await server.api('POST', 'jobs', { job_id: 'own', name: 'Own', command: 'true' });
    await page.getByRole('heading', { name: 'Get started' }).waitFor({ state: 'detached' });
  });
});

test('first run: a reader sees the steps disabled with the reason', async () => {
  const other = await startServer();
  try {
    const { token } = await other.api('POST', 'tokens', { name: 'reader', role: 'read_only' });
    await person({ token }, async (page) => {
      await page.goto(other.url + '/');
      const button = page.getByRole('button', { name: 'Create and run' });
      await button.waitFor();
      assert.ok(await button.isDisabled());
      assert.equal(await button.getAttribute('title'), 'Your role is read-only.');
    });
  } finally {
    await other.stop();
  }
});

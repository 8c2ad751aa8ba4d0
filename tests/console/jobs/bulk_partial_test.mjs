// All that match are paused, and some of them are not: foreseen, or because of what happened meanwhile.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { signIn, until, withServer } from '../support/server.mjs';

const password = 'correct horse battery';
let anna;
let uma;
const { server, guest } = withServer(async () => {
  [anna, uma] = await Promise.all([['anna', 'admin'], ['uma', 'user']].map(async ([name, role]) =>
    (await server.api('POST', 'users', { name, role, password })).user_id));
});
const dialog = (page) => page.locator('.dialog');
const region = (page, name) => dialog(page).getByRole('region', { name });
const namesIn = async (list) => (await list.locator('li a').allInnerTexts()).toSorted();

// `own` of hers and `others` that she may see and not pause.
async function jobs(prefix, own, others) {
  const all = [['own', own, uma], ['others', others, anna]].flatMap(([kind, n, user_id]) => Array.from({ length: n }, (_, i) => ({
    job_id: `${prefix}-${kind}-${i}`, name: `Job ${prefix}-${kind}-${i}`, command: 'true', user_id,
  })));
  await server.api('POST', 'apply', all);
}
// What else happens to two of hers: one is given away, one is deleted.
async function meanwhile(prefix) {
  const given = await server.api('GET', `jobs/${prefix}-own-1`);
  await server.api('PATCH', `jobs/${prefix}-own-1`, { user_id: anna }, { 'If-Match': `"v${given.version}"` });
  const gone = await server.api('GET', `jobs/${prefix}-own-2`);
  const answer = await fetch(`${server.url}/api/jobs/${prefix}-own-2`, {
    method: 'DELETE', headers: { Authorization: 'Bearer ' + server.token, 'If-Match': `"v${gone.version}"` },
  });
  assert.ok(answer.ok, `deleted: ${answer.status}`);
}
// She has them all selected and looks at what would be; `body` goes on from there.
const asked = (prefix, own, others, body) => guest({ asked: ['/api/auth/', `/api/jobs/${prefix}-own-2`] }, async (page) => {
  await jobs(prefix, own, others);
  await page.goto(`${server.url}/jobs?q=${prefix}-&page_size=20`);
  await signIn(page, 'uma', password);
  await page.getByLabel('Select all 20 shown').check();
  await page.getByRole('button', { name: 'Select all matches' }).click();
  await page.getByText(`All ${own + others} matches are selected`).waitFor();
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await dialog(page).getByText(`${own} of ${own + others} jobs can be paused`).waitFor();
  const refused = region(page, 'Not possible for');
  assert.equal(await refused.locator('li').count(), others);
  for (const text of await refused.locator('li').allInnerTexts()) assert.match(text, new RegExp(`${prefix}-others-\\d+\\s.*somebody else`, 's'));
  await meanwhile(prefix);
  await dialog(page).getByLabel('Reason (optional)').fill('moving house');
  await dialog(page).getByRole('button', { name: 'Pause' }).click();
  await body(page);
});
async function arePaused(prefix, own) {
  const all = (await server.api('GET', `jobs?q=${prefix}-&page_size=500`)).items;
  const paused = all.filter((one) => one.state === 'PAUSED');
  assert.deepEqual(paused.map((one) => one.job_id).toSorted(),
    Array.from({ length: own }, (_, i) => `${prefix}-own-${i}`).filter((_, i) => i !== 1 && i !== 2).toSorted());
  assert.ok(paused.every((one) => one.pause_reason === 'moving house'));
}
const reasons = async (items) => Object.fromEntries((await items.allInnerTexts()).map((text) => [/[a-z]+-(own|others)-\d+/.exec(text)[0], text]));
function areTold(prefix, others, told) {
  assert.deepEqual(Object.keys(told).toSorted(),
    [`${prefix}-own-1`, `${prefix}-own-2`, ...Array.from({ length: others }, (_, i) => `${prefix}-others-${i}`)].toSorted());
  for (const [id, text] of Object.entries(told)) assert.match(text, id === prefix + '-own-2' ? /no job / : /somebody else/, id);
}

describe('all that match are paused, of which some are refused', () => {
  test('few: the dialog foresees who, and tells in the end who else and why', async () => {
    await asked('few', 25, 3, async (page) => {
      await dialog(page).getByText('23 done, 5 failed').waitFor();
      areTold('few', 3, await reasons(region(page, 'Failed').locator('li')));
      assert.equal((await namesIn(region(page, 'Done'))).length, 23);
      await dialog(page).locator('.button-primary', { hasText: 'Close' }).click();
      await page.getByText('5 selected').waitFor();
    });
    await arePaused('few', 25);
  });

  test('many: the server goes on with it; its page names who failed and why', async () => {
    await asked('many', 60, 4, async (page) => {
      await dialog(page).getByText('64 in total: 58 done, 6 failed, 0 skipped').waitFor({ timeout: 30_000 });
      await dialog(page).getByRole('link', { name: 'View progress' }).click();
      await page.locator('h1 [data-state=DONE]').waitFor();
      await page.getByRole('button', { name: 'Failed (6)' }).click();
      const rows = page.locator('tbody tr');
      await until(async () => (await rows.count()) === 6, 'those that failed');
      areTold('many', 4, await reasons(rows));
    });
    await arePaused('many', 60);
  });
});

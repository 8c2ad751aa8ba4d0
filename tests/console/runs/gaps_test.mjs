// Missed fires: users find the fires that got no run, in a real browser against a real server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heading, look, until, withServer } from '../support/server.mjs';

// A fire counts as missed when it is 5 s late.
const AWAY_MS = 10_000;
const START_MS = 300_000; // of a server on a machine that is busy with other tests
const gapsOf = async (id) => (await server.api('GET', 'gaps?job_id=' + id)).items;
const { server, person } = withServer();
// Creates a job that fires each second for a while, and pauses it meanwhile, so that it has a gap. No run comes
// after the gap: a run within the same minute would be the answer to "why?".
const skip = async (id) => {
  const end = Date.now() + 8000; // a busy machine pauses it late
  const each = { kind: 'rate', every_ms: 1000, end_time: new Date(end).toISOString() };
  await server.api('POST', 'jobs', { job_id: id, name: 'Job ' + id, command: 'true', schedules: [each] });
  await server.api('POST', `jobs/${id}/pause`, { reason: 'a look' });
  await until(() => Date.now() > end + 500, 'the end of its schedule');
  await server.api('POST', `jobs/${id}/resume`, {});
  await until(async () => (await gapsOf(id)).length > 0, 'its gap');
};

test('missed fires: a job links to its own, which the address filters and which link to the why tab', async () => {
  await Promise.all([skip('beat'), skip('drum')]);
  const [gap] = await gapsOf('beat');
  await person({}, async (page) => {
    await page.goto(server.url + '/jobs/beat');
    const card = page.locator('.card').filter({ has: page.getByRole('heading', { name: 'Missed fires' }) });
    await card.getByRole('link', { name: 'Show all' }).click();
    await heading(page, 'Missed fires');
    assert.equal(new URL(page.url()).search, '?job_id=beat');
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'beat', exact: true }) });
    await row.waitFor();
    assert.equal(await page.getByRole('link', { name: 'drum', exact: true }).count(), 0);
    assert.deepEqual(await row.locator('time').evaluateAll((all) => all.map((one) => one.dateTime)), [gap.from, gap.to]);
    assert.equal(await row.locator('[data-column=count]').innerText(), String(gap.count));
    assert.match(await row.innerText(), /Job was paused/);
    assert.deepEqual(await look(page, 'gaps of a job'), []);

    await page.getByLabel('Reason', { exact: true }).selectOption('misfire');
    await page.getByText('No matches').waitFor();
    assert.equal(new URL(page.url()).search, '?job_id=beat&reason=misfire');
    assert.deepEqual(await look(page, 'no match'), []);
    await page.goBack();
    await row.waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('link', { name: 'drum', exact: true }).waitFor();

    const after = new Date(Date.parse(gap.to) + 1).toISOString();
    await page.goto(`${server.url}/gaps?job_id=beat&since=${after}`);
    await page.getByText('No matches').waitFor();
    await page.goto(`${server.url}/gaps?job_id=beat&since=${gap.to}&until=${after}`);
    await row.getByRole('link', { name: 'Why? Missed fires of beat' }).click();
    await heading(page, 'Job beat');
    await page.getByText('Did not run: the fire was missed').waitFor();
  });
});

test('missed fires: the overview tile leaves out deliberate ones and links to the list', async () => {
  const { version } = await server.api('GET', 'system/config');
  await server.api('PUT', 'system/config', { settings: { 'scheduler.horizon_s': '1' } }, { 'If-Match': `"v${version}"` });
  await server.api('POST', 'jobs', {
    job_id: 'late', name: 'Job late', command: 'true', schedules: [{ kind: 'rate', every_ms: 1000 }], misfire_policy: 'skip', misfire_grace: 0,
  });
  await server.restart('SIGKILL', () => new Promise((resolve) => setTimeout(resolve, AWAY_MS)));
  const missed = async () => (await gapsOf('late')).filter((gap) => gap.reason === 'misfire');
  await until(async () => (await missed().catch(() => [])).length > 0, 'its gap', START_MS); // it may not be ready yet
  await server.api('POST', 'jobs/late/pause', {});
  const fires = (await missed()).reduce((sum, gap) => sum + gap.count, 0);
  assert.ok(fires > 0);
  await person({}, async (page) => {
    await page.goto(server.url + '/');
    const missed = page.getByRole('link', { name: `${fires} missed ${fires > 1 ? 'fires' : 'fire'} in the last 24 hours` });
    await missed.waitFor();
    assert.deepEqual(await look(page, 'overview'), []);
    await missed.click();
    await heading(page, 'Missed fires');
    const { searchParams } = new URL(page.url());
    assert.deepEqual(searchParams.getAll('reason'), ['misfire', 'catch_up_limit']);
    const back = Date.now() - Date.parse(searchParams.get('since'));
    assert.ok(back >= 86_400_000 && back < 86_400_000 + 120_000, `${back} ms`);
    await page.getByRole('link', { name: 'late', exact: true }).first().waitFor();
    assert.equal(await page.getByRole('link', { name: 'beat', exact: true }).count(), 0);
    await page.goto(server.url + '/');
    await page.getByRole('link', { name: 'Start delay p99 · missed fires' }).click();
    await heading(page, 'System');
  });
});

test('missed fires: a refusal is shown, on a phone, in Chinese', async () => {
  await person({ locale: 'zh-CN', width: 360, theme: 'dark', asked: ['/api/gaps'] }, async (page) => {
    await page.goto(server.url + '/gaps');
    await heading(page, '错过的触发');
    await page.getByRole('link', { name: 'beat', exact: true }).waitFor();
    assert.deepEqual(await look(page, 'on a phone'), []);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wide <= 0, `${wide} px too wide`);
    await page.goto(server.url + '/gaps?since=yesterday');
    await page.getByRole('alert').waitFor();
  });
});

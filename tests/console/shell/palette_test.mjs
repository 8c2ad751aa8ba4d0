// The command palette: its pages and actions, by keyboard only, in a real browser against a real server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heading, look, until, withServer } from '../support/server.mjs';

let executor;
let run;
const { server, person } = withServer(async () => {
  await until(async () => (executor = (await server.api('GET', 'executors')).items[0]?.executor_id), 'the executor');
  await server.api('POST', 'jobs', { job_id: 'backup', name: 'Backup', command: 'true' });
  ({ run_id: run } = await server.api('POST', 'jobs/backup/execute', {}));
  await until(async () => (await server.api('GET', 'runs/' + run)).state === 'COMPLETED', 'its run');
});
// Types a text, waits until the wanted option is selected, and presses Enter.
async function go(page, text, option) {
  const dialog = page.locator('.dialog');
  await page.keyboard.press('Control+k');
  await dialog.locator('input:focus').waitFor();
  await page.keyboard.insertText(text);
  const chosen = page.locator('[role=option][data-highlighted]', { hasText: option });
  // An Enter while the list changes has no effect. Then the dialog stays open, and Enter is pressed again.
  for (let tries = 0; tries < 3; ++tries) {
    await chosen.waitFor();
    await page.keyboard.press('Enter');
    if (await dialog.waitFor({ state: 'detached', timeout: 5_000 }).then(() => true, () => false)) return;
  }
  assert.fail(`${option} is chosen and not taken`);
}

test('the palette opens a run by ID, an executor, a job and any page', async () => {
  await person({}, async (page) => {
    await page.goto(server.url + '/');
    await heading(page, 'Overview');
    // A page that is still loading takes the focus when it appears.
    await go(page, run, 'Run of Backup');
    await page.waitForURL('**/runs/' + run);
    await heading(page, /Backup/);
    await go(page, `${server.url}/runs/${run}?attempt=1`, 'Run of Backup');
    await heading(page, /Backup/);
    await go(page, executor, executor);
    await page.waitForURL('**/executors/' + executor);
    await heading(page, executor);
    await go(page, 'notif', 'Notifications');
    await heading(page, 'Notifications');
    await go(page, 'backup', 'Backup');
    await heading(page, 'Backup');
  });
});

test('the palette ignores results of earlier input on Enter', async () => {
  await person({}, async (page) => {
    await page.goto(server.url + '/');
    await heading(page, 'Overview');
    let answer;
    const answered = new Promise((resolve) => { answer = resolve; });
    await page.route('**/api/jobs?q=notif*', async (route) => {
      await answered;
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: 'Backup' }).first().waitFor();
    await page.keyboard.insertText('notif');
    // The first option is selected, whether the server's answer came or not.
    await page.locator('[role=option][data-highlighted]', { hasText: 'Notifications' }).waitFor();
    assert.equal(await page.getByRole('option', { name: 'Backup' }).count(), 0);
    answer();
    await page.keyboard.press('Enter');
    await heading(page, 'Notifications');
  });
});

test('the palette offers nothing for an unknown run ID', async () => {
  await person({ asked: ['/api/runs/'] }, async (page) => {
    await page.goto(server.url + '/');
    await heading(page, 'Overview');
    await page.keyboard.press('Control+k');
    await page.locator('.dialog').waitFor();
    await page.keyboard.insertText(run.slice(0, -1) + (run.endsWith('Z') ? 'Y' : 'Z'));
    await page.getByText('No matches').waitFor();
  });
});

test('the palette runs, pauses and resumes the open job; a bare name only opens it', async () => {
  await person({}, async (page) => {
    await page.goto(server.url + '/jobs/backup');
    await heading(page, 'Backup');
    await go(page, 'pause backup', 'Pause Backup');
    await page.locator('h1 [data-state=PAUSED]').waitFor();
    await go(page, 'resume backup', 'Resume Backup');
    await page.locator('h1 [data-state=ENABLED]').waitFor();
    const before = (await server.api('GET', 'runs?job_id=backup')).items.length;
    await go(page, 'backup', 'Backup');
    await go(page, 'run backup', 'Run Backup now');
    await page.waitForURL('**/runs/*');
    assert.equal((await server.api('GET', 'runs?job_id=backup')).items.length, before + 1);
    await page.goto(server.url + '/jobs');
    await heading(page, 'Jobs');
    await page.keyboard.press('Control+k');
    await page.locator('.dialog').waitFor();
    await page.keyboard.insertText('pause backup');
    await page.getByText('No matches').waitFor();
  });
});

test('the palette sets theme and language and signs out; a denied action says why', async () => {
  const { token } = await server.api('POST', 'tokens', { name: 'reader', role: 'read_only' });
  await person({ token, asked: ['/api/'] }, async (page) => {
    await page.goto(server.url + '/jobs/backup');
    await heading(page, 'Backup');
    await page.keyboard.press('Control+k');
    await page.locator('.dialog').waitFor();
    await page.keyboard.insertText('run backup now');
    const denied = page.getByRole('option', { name: /Run Backup now/ });
    await denied.waitFor();
    assert.equal(await denied.getAttribute('aria-disabled'), 'true');
    assert.match(await denied.innerText(), /Your role is read-only/);
    assert.deepEqual(await look(page, 'palette'), []);
    await page.keyboard.press('Enter');
    assert.match(page.url(), /\/jobs\/backup$/);
    await page.keyboard.press('Escape');
    await page.locator('.dialog').waitFor({ state: 'detached' });
    await go(page, 'dark', 'Theme: Dark');
    await page.locator('html[data-theme=dark]').waitFor();
    await go(page, '中文', 'Language: Simplified Chinese');
    await page.locator('html[lang=zh-CN]').waitFor();
    await go(page, 'english', 'English');
    await page.locator('html[lang=en]').waitFor();
    await go(page, 'sign out', 'Sign out');
    await page.getByLabel('API token').waitFor();
  });
});

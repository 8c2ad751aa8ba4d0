// Lists in the console: actions on several jobs or runs with the result of each, saved views, columns.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heading, look, signIn, until, withServer } from '../support/server.mjs';

const password = 'correct horse battery';
const { server, person, guest } = withServer(async () => {
  for (const [name, role] of [['anna', 'admin'], ['uma', 'user'], ['rita', 'read_only']]) await server.api('POST', 'users', { name, role, password });
});

const as = (name, options, body) => guest({ ...options, asked: ['/api/auth/', ...(options.asked ?? [])] }, async (page) => {
  await page.goto(server.url + options.path);
  await signIn(page, name, password);
  await body(page);
});
async function apiAs(name) {
  const answer = await fetch(server.url + '/api/auth/login', {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ name, password }),
  });
  const { access_token: token } = await answer.json();
  return (method, path, body) => server.api(method, path, body, { Authorization: 'Bearer ' + token });
}
const job = (id, changes = {}) => server.api('POST', 'jobs', { job_id: id, name: 'Job ' + id, command: 'true', ...changes });
const tick = (page, name) => page.getByRole('checkbox', { name: 'Select ' + name, exact: true });
const dialog = (page) => page.locator('.dialog');
const closeDialog = async (page) => {
  await dialog(page).locator('.button-primary', { hasText: 'Close' }).click();
  await dialog(page).waitFor({ state: 'detached' });
};

describe('the order', () => {
  test('a list is sorted by its header, and the back button restores the order', async () => {
    for (const [id, name] of [['sort-a', 'Zebra'], ['sort-b', 'Ape'], ['sort-c', 'Mole']]) await job(id, { name });
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs?q=sort-');
      const names = async () => (await page.locator('[data-column="name"] a').allInnerTexts()).join();
      const order = (text) => until(async () => (await names()) === text, text);
      const header = page.getByRole('columnheader', { name: 'Job' });
      await order('Zebra,Ape,Mole');
      assert.equal(await page.getByTestId('total').innerText(), '3 jobs');
      await header.getByRole('button').click();
      await order('Ape,Mole,Zebra');
      assert.equal(new URL(page.url()).search, '?q=sort-&sort=name');
      assert.equal(await header.getAttribute('aria-sort'), 'ascending');
      await header.getByRole('button').click();
      await order('Zebra,Mole,Ape');
      assert.equal(await header.getAttribute('aria-sort'), 'descending');
      assert.deepEqual(await look(page, 'a sorted list'), []);
      await page.goBack();
      await order('Ape,Mole,Zebra');
      await page.reload();
      await order('Ape,Mole,Zebra');
    });
  });
});

describe('many jobs', () => {
  test('a bulk action previews and names the refused part and keeps it selected', async () => {
    await job('part-theirs');
    const uma = await apiAs('uma');
    for (const id of ['part-one', 'part-two']) await uma('POST', 'jobs', { job_id: id, name: 'Job ' + id, command: 'true' });
    await as('uma', { path: '/jobs?q=part-' }, async (page) => {
      await tick(page, 'Job part-one').click();
      await tick(page, 'Job part-two').click({ modifiers: ['Shift'] });
      // In the order of ids, the job of the other user is between the two.
      await page.getByText('3 selected').waitFor();
      await page.getByRole('button', { name: 'Pause', exact: true }).click();
      await dialog(page).getByText('2 of 3 jobs can be paused').waitFor();
      const refused = dialog(page).getByRole('region', { name: 'Not possible for' });
      assert.match(await refused.locator('li').innerText(), /^Job part-theirs\s/);
      await dialog(page).getByLabel('Reason (optional)').fill('moving house');
      await dialog(page).getByRole('button', { name: 'Pause' }).click();
      await dialog(page).getByText('2 done, 1 failed').waitFor();
      const failed = dialog(page).getByRole('region', { name: 'Failed' });
      assert.equal(await failed.locator('li').count(), 1);
      assert.match(await failed.locator('li').innerText(), /^Job part-theirs\s.*another user/s);
      assert.deepEqual(await look(page, 'the result'), []);
      await closeDialog(page);
      await page.getByText('1 selected').waitFor();
      assert.ok(await tick(page, 'Job part-theirs').isChecked());
      assert.ok(!(await tick(page, 'Job part-one').isChecked()));
    });
    const states = await Promise.all(['part-one', 'part-theirs', 'part-two'].map((id) => server.api('GET', 'jobs/' + id)));
    assert.deepEqual(states.map((one) => [one.state, one.pause_reason]),
      [['PAUSED', 'moving house'], ['ENABLED', null], ['PAUSED', 'moving house']]);
  });

  test('a bulk run links to each run, and another filter clears the selection', async () => {
    await job('go-1');
    await job('go-2');
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs?q=go-');
      await page.getByLabel('Select all 2 shown').check();
      await page.getByRole('button', { name: 'Run now', exact: true }).click();
      await dialog(page).getByText('2 of 2 jobs can be started').waitFor();
      await dialog(page).getByRole('button', { name: 'Run now' }).click();
      await dialog(page).getByText('2 done, 0 failed').waitFor();
      await dialog(page).getByRole('link', { name: 'View run' }).first().click();
      await page.waitForURL('**/runs/*');
      await page.locator('h1 [data-state=COMPLETED]').waitFor();
      await page.goto(server.url + '/jobs?q=go-');
      await page.getByLabel('Select all 2 shown').check();
      await page.getByText('2 selected').waitFor();
      await page.getByRole('button', { name: 'Enabled' }).click();
      await page.getByText('2 selected').waitFor({ state: 'detached' });
    });
  });

  test('the keyboard selects rows, opens the bulk dialog and gets the focus back', async () => {
    await job('keys-1');
    await job('keys-2');
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs?q=keys-');
      await tick(page, 'Job keys-1').focus();
      await page.keyboard.press('Space');
      await tick(page, 'Job keys-2').focus();
      await page.keyboard.press('Shift+Space');
      await page.getByText('2 selected').waitFor();
      await page.getByRole('button', { name: 'Pause', exact: true }).focus();
      await page.keyboard.press('Enter');
      await dialog(page).getByText('2 of 2 jobs can be paused').waitFor();
      await page.keyboard.press('Escape');
      await dialog(page).waitFor({ state: 'detached' });
      const pause = page.getByRole('button', { name: 'Pause', exact: true });
      await until(() => pause.evaluate((one) => one === document.activeElement), 'the focus back');
      assert.equal((await server.api('GET', 'jobs/keys-1')).state, 'ENABLED');
      // A checkbox is not a text field, so the console's keyboard shortcuts still work.
      await tick(page, 'Job keys-1').focus();
      await page.keyboard.press('g');
      await page.keyboard.press('r');
      await heading(page, 'Runs');
    });
  });

  test('a reader sees bulk actions disabled with the reason', async () => {
    await job('looked-at');
    await as('rita', { path: '/jobs?q=looked-at' }, async (page) => {
      await tick(page, 'Job looked-at').check();
      const bar = page.getByRole('group', { name: 'Actions for the selection' });
      for (const name of ['Run now', 'Pause', 'Resume']) assert.ok(await bar.getByRole('button', { name }).isDisabled(), name);
      await bar.getByText('Your role is read-only.').waitFor();
    });
  });
});

describe('many runs', () => {
  test('a bulk retry and a bulk cancel act only on runs whose state fits', async () => {
    await job('fails', { command: 'exit 3' });
    await job('sleeps', { command: 'sleep 300' });
    await server.api('POST', 'jobs/fails/execute', {});
    await server.api('POST', 'jobs/fails/execute', {});
    const { run_id: sleeping } = await server.api('POST', 'jobs/sleeps/execute', {});
    const failed = async () => (await server.api('GET', 'runs?state=FAILED&job_id=fails')).items;
    await until(async () => (await failed()).length === 2, 'two failed runs');
    await until(async () => (await server.api('GET', 'runs/' + sleeping)).state === 'RUNNING', 'one that runs');
    await person({}, async (page) => {
      await page.goto(server.url + '/runs?job_id=fails');
      await page.getByLabel('Select all 2 shown').check();
      const bar = page.getByRole('group', { name: 'Actions for the selection' });
      assert.ok(await bar.getByRole('button', { name: 'Cancel runs' }).isDisabled());
      await bar.getByRole('button', { name: 'Retry' }).click();
      await dialog(page).getByText('2 of 2 runs can be retried').waitFor();
      await dialog(page).getByRole('button', { name: 'Retry' }).click();
      await dialog(page).getByText('2 done, 0 failed').waitFor();
      await closeDialog(page);
      await until(async () => (await failed()).every((run) => run.attempt === 2) && (await failed()).length === 2, 'their second attempts');

      await page.goto(server.url + '/runs');
      await page.getByRole('checkbox', { name: /^Select Job sleeps/ }).check();
      await page.getByRole('checkbox', { name: /^Select Job fails/ }).first().check();
      await bar.getByRole('button', { name: 'Cancel runs' }).click();
      await dialog(page).getByText('1 of 1 runs can be cancelled').waitFor();
      await dialog(page).getByText('Left out: 1 of the selected runs').waitFor();
      await dialog(page).getByRole('button', { name: 'Cancel runs' }).click();
      await dialog(page).getByText('1 done, 0 failed').waitFor();
      await closeDialog(page);
    });
    await until(async () => (await server.api('GET', 'runs/' + sleeping)).state === 'CANCELLED', 'the run to be cancelled');
  });
});

describe('views and columns', () => {
  test('a view is saved, opened by its link, renamed and deleted', async () => {
    await job('viewed', { enabled: false });
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs?q=viewed&status=PAUSED');
      await page.getByRole('button', { name: 'Views' }).click();
      const panel = page.getByRole('group', { name: 'Saved views' });
      await panel.getByLabel('Save filters as').fill('Asleep');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'View: Asleep' }).waitFor();
      await page.goto(server.url + '/jobs?q=nothing-like-it');
      await page.getByText('No matches').waitFor();
      await page.getByRole('button', { name: 'Views' }).click();
      await panel.getByRole('link', { name: 'Asleep' }).click();
      await page.getByRole('link', { name: 'Job viewed' }).waitFor();
      assert.equal(new URL(page.url()).search, '?q=viewed&status=PAUSED');
      assert.equal(await page.getByRole('searchbox').inputValue(), 'viewed');
      await panel.waitFor({ state: 'detached' });
      const button = page.getByRole('button', { name: 'View: Asleep' });
      assert.ok(await button.evaluate((one) => one === document.activeElement), 'the focus is on the button again');
      await page.goBack();
      await page.getByText('No matches').waitFor();
      // A stored view does not change an address that a user opens.
      await page.goto(server.url + '/jobs?status=ENABLED');
      await page.getByRole('button', { name: 'Views', exact: true }).click();
      await panel.getByRole('button', { name: 'Rename Asleep' }).click();
      await panel.getByLabel('New name').fill('Paused ones');
      await page.keyboard.press('Enter');
      await panel.getByRole('link', { name: 'Paused ones' }).waitFor();
      await page.reload();
      await page.getByRole('button', { name: 'Views', exact: true }).click();
      await panel.getByRole('button', { name: 'Delete Paused ones' }).click();
      assert.equal(await panel.getByRole('link').count(), 0);
      // The list of runs has its own views.
      await page.goto(server.url + '/runs?state=FAILED');
      await page.getByRole('button', { name: 'Views', exact: true }).click();
      await panel.getByLabel('Save filters as').fill('Broken');
      await panel.getByRole('button', { name: 'Save view' }).click();
      await page.goto(server.url + '/jobs?q=viewed');
      await page.getByRole('button', { name: 'Views', exact: true }).click();
      assert.equal(await panel.getByRole('link').count(), 0);
    });
  });

  test('each person has views of their own', async () => {
    await as('anna', { path: '/jobs?status=PAUSED' }, async (page) => {
      await page.getByRole('button', { name: 'Views' }).click();
      const panel = page.getByRole('group', { name: 'Saved views' });
      await panel.getByLabel('Save filters as').fill('Mine');
      await panel.getByRole('button', { name: 'Save view' }).click();
      await page.getByRole('button', { name: 'Settings' }).click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await signIn(page, 'uma', password);
      await heading(page, 'Jobs');
      await page.getByRole('button', { name: 'Views', exact: true }).click();
      await panel.waitFor();
      assert.equal(await panel.getByRole('link').count(), 0);
    });
  });

  test('columns are chosen by keyboard, remembered and reset', async () => {
    await job('columned');
    await server.api('POST', 'jobs/columned/execute', {});
    await person({}, async (page) => {
      const headers = async () => (await page.locator('thead th').allTextContents()).filter((text) => !/^(Select|Actions)$/.test(text));
      await page.goto(server.url + '/jobs?q=columned');
      await tick(page, 'Job columned').waitFor();
      assert.deepEqual(await headers(), ['Job', 'State', 'Schedule', 'Next fire', 'Last result', 'Last runs', 'Owner']);
      await page.getByRole('button', { name: 'Columns' }).focus();
      await page.keyboard.press('Enter');
      const panel = page.getByRole('group', { name: 'Columns' });
      assert.ok(await panel.getByLabel('Job').isDisabled());
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Space');
      await until(async () => !(await headers()).includes('Schedule'), 'the column to go');
      await panel.getByLabel('Changed').check();
      await page.keyboard.press('Escape');
      await panel.waitFor({ state: 'detached' });
      await page.reload();
      await tick(page, 'Job columned').waitFor();
      assert.deepEqual(await headers(), ['Job', 'State', 'Next fire', 'Last result', 'Last runs', 'Owner', 'Changed']);
      await page.goto(server.url + '/runs?job_id=columned');
      await page.locator('tbody tr').first().waitFor();
      await page.getByRole('button', { name: 'Columns' }).click();
      await panel.getByLabel('Executor').uncheck();
      await panel.getByLabel('Started').check();
      assert.deepEqual(await headers(), ['State', 'Job', 'Fire time', 'Trigger', 'Duration', 'Reason', 'Started']);
      await panel.getByRole('button', { name: 'Reset' }).click();
      assert.deepEqual(await headers(), ['State', 'Job', 'Fire time', 'Trigger', 'Duration', 'Executor', 'Reason']);
    });
  });
});

describe('the list bar', () => {
  for (const theme of ['light', 'dark']) {
    test(`axe finds nothing in the list bar, its dialog and panels, ${theme}`, async () => {
      await job('seen-' + theme);
      await person({ theme }, async (page) => {
        await page.goto(server.url + '/jobs?q=seen-' + theme);
        await page.getByLabel('Select all 1 shown').check();
        const told = await look(page, 'selection');
        await page.getByRole('button', { name: 'Pause', exact: true }).click();
        await dialog(page).getByText('1 of 1 jobs can be paused').waitFor();
        told.push(...(await look(page, 'dialog')));
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'Columns' }).click();
        told.push(...(await look(page, 'columns')));
        await page.getByRole('button', { name: 'Views' }).click();
        const panel = page.getByRole('group', { name: 'Saved views' });
        await panel.getByLabel('Save filters as').fill('One');
        await panel.getByRole('button', { name: 'Save view' }).click();
        await panel.getByRole('link', { name: 'One' }).waitFor();
        told.push(...(await look(page, 'views')));
        await panel.getByRole('button', { name: 'Rename One' }).click();
        told.push(...(await look(page, 'renaming')));
        assert.deepEqual(told, []);
      });
    });
  }

  test('the list bar fits a phone in both languages', async () => {
    await job('small');
    await server.api('POST', 'jobs/small/execute', {});
    for (const [locale, selected, panels] of [['en-GB', '1 selected', ['Views', 'Columns']], ['zh-CN', '已选择 1 项', ['视图', '列']]]) {
      await person({ locale, width: 360 }, async (page) => {
        for (const path of ['/jobs?q=small', '/runs?job_id=small']) {
          await page.goto(server.url + path);
          await page.locator('[data-column=select] input').first().check();
          await page.getByText(selected).waitFor();
          for (const panel of panels) {
            await page.getByRole('button', { name: panel, exact: true }).click();
            const box = await page.locator('.popup').boundingBox();
            assert.ok(box.x >= 0 && box.x + box.width <= 360, `${path} ${panel}: from ${box.x}, ${box.width} px`);
            const text = await page.locator('main').innerText();
            assert.doesNotMatch(text, /\b(lists|bulk|views|columns)\.[a-z_]+\b/);
            const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
            assert.ok(wide <= 0, `${path} is ${wide} px too wide`);
          }
        }
      });
    }
  });
});

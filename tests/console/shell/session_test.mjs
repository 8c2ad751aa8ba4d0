// Sessions that change while a page is open: the access token expires, or the session is ended in another tab, by
// another browser or by an administrator.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heading, signIn, startProxy, until, withServer } from '../support/server.mjs';

const password = 'correct horse battery';
const { server, guest } = withServer(async () => {
  await server.api('POST', 'users', { name: 'anna', role: 'admin', password });
  for (const name of ['uma', 'otto', 'tilda']) await server.api('POST', 'users', { name, role: 'user', password });
  await server.api('POST', 'jobs', { job_id: 'first', name: 'First', command: 'true' });
});
const as = (name, path, body) => guest({ asked: ['/api/'] }, async (page) => {
  await page.goto(server.url + path);
  await signIn(page, name, password);
  await body(page);
});
const form = (page) => page.getByRole('button', { name: 'Sign in', exact: true });
// Makes the server refuse the first access token, as after its ten minutes, and records the consequences.
const expire = async (page) => {
  const used = new Set();
  const refused = [];
  const renewed = [];
  page.on('response', (answer) => {
    if (answer.status() === 401) refused.push(answer.url());
    if (answer.url().endsWith('/api/auth/refresh')) renewed.push(answer.status());
  });
  let first = '';
  await page.route('**/api/**', (route) => {
    const headers = route.request().headers();
    const given = headers.authorization ?? '';
    first ||= given;
    if (given) used.add(given); // the renewal itself uses the cookie
    // Two tokens issued in the same second are identical, so the token alone does not tell whether it was renewed.
    const expired = given && given === first && renewed.length === 0;
    return route.continue({ headers: expired ? { ...headers, authorization: given.slice(0, -8) + 'expired0' } : headers });
  });
  return { used, refused, renewed };
};

describe('an access token', () => {
  test('an expired access token is renewed once and silently, and the page keeps its state', async () => {
    await as('uma', '/jobs', async (page) => {
      await page.getByRole('link', { name: 'First', exact: true }).waitFor();
      await page.evaluate(() => { globalThis.sameDocument = true; });
      const { used, refused, renewed } = await expire(page);
      await page.getByLabel('Filter by labels').fill('half typed');
      await server.api('POST', 'jobs', { job_id: 'second', name: 'Second', command: 'true' });
      await page.getByRole('link', { name: 'Second', exact: true }).waitFor();
      assert.ok(refused.length > 0, 'it had expired');
      assert.deepEqual(renewed, [200]);
      assert.equal(await page.getByLabel('Filter by labels').inputValue(), 'half typed');
      // Pages that send several requests at once use the new token.
      await page.getByRole('link', { name: 'Overview' }).click();
      await heading(page, 'Overview');
      await page.getByRole('link', { name: 'System' }).click();
      await heading(page, 'System');
      assert.deepEqual([renewed, used.size <= 2, await page.evaluate(() => globalThis.sameDocument)], [[200], true, true]);
      assert.equal(await form(page).count(), 0);
      assert.equal(await page.getByRole('alert').count(), 0);
    });
  });

  test('an expired access token is renewed once for many parallel requests', async () => {
    await as('uma', '/account', async (page) => {
      const { refused, renewed } = await expire(page);
      await page.getByRole('link', { name: 'Overview' }).click();
      await heading(page, 'Overview');
      await until(() => refused.length > 1, 'several refusals');
      await page.getByRole('link', { name: 'Jobs' }).click();
      await page.getByRole('link', { name: 'First', exact: true }).waitFor();
      assert.deepEqual(renewed, [200]);
    });
  });
});

describe('a session', () => {
  test('a sign-out in one tab signs out all tabs at once', async () => {
    await as('uma', '/jobs', async (page) => {
      const other = await page.context().newPage();
      await other.goto(server.url + '/jobs/first');
      await heading(other, /First/);
      await page.getByRole('link', { name: 'First', exact: true }).waitFor();
      await page.getByRole('button', { name: 'Settings' }).click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await form(page).waitFor();
      await form(other).waitFor({ timeout: 3_000 });
      assert.equal(await other.getByText('First').count(), 0);
      // The user stays signed out, even after a reload.
      await other.reload();
      await form(other).waitFor();
      await signIn(other, 'otto', password);
      await heading(other, /First/);
    });
  });

  test('a session survives two reloads before its renewal is answered', async () => {
    const proxy = await startProxy(server.url, '');
    try {
      await guest({ asked: ['/api/'] }, async (page) => {
        await page.goto(proxy.url + '/jobs');
        await signIn(page, 'uma', password);
        const list = page.getByRole('link', { name: 'First', exact: true });
        await list.waitFor();
        let lost = 0;
        proxy.lose((path) => path.endsWith('/api/auth/refresh') && ++lost <= 2);
        for (const times of [1, 2]) {
          await page.reload({ waitUntil: 'commit' });
          await until(() => lost === times, 'the renewal to be answered');
        }
        for (const times of [3, 4]) {
          await page.reload();
          await list.waitFor();
          assert.equal(lost, times);
        }
        assert.equal(await form(page).count(), 0);
      });
    } finally {
      proxy.stop();
    }
  });

  test('a session under the path of a proxy survives a reload, a second tab and a sign-out', async () => {
    const proxy = await startProxy(server.url, '/ops/carillon');
    try {
      await guest({ asked: ['/api/'] }, async (page) => {
        await page.goto(proxy.url + '/jobs');
        await signIn(page, 'uma', password);
        const listed = (tab) => tab.getByRole('link', { name: 'First', exact: true }).waitFor();
        await listed(page);
        await page.reload();
        await listed(page);
        const other = await page.context().newPage();
        await other.goto(proxy.url + '/jobs');
        await listed(other);
        await other.getByRole('button', { name: 'Settings' }).click();
        await other.getByRole('button', { name: 'Sign out' }).click();
        await form(page).waitFor();
        await page.reload();
        await form(page).waitFor();
      });
    } finally {
      proxy.stop();
    }
  });

  test('a token session belongs to its tab alone', async () => {
    await as('uma', '/jobs', async (page) => {
      const other = await page.context().newPage();
      await other.addInitScript((token) => sessionStorage.setItem('carillon.token', token), server.token);
      await other.goto(server.url + '/jobs');
      await other.getByRole('link', { name: 'First', exact: true }).waitFor();
      await page.getByRole('button', { name: 'Settings' }).click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await form(page).waitFor();
      await other.getByRole('link', { name: 'Runs' }).first().click();
      await heading(other, 'Runs');
      assert.equal(await form(other).count(), 0);
    });
  });

  test('a session ended by a password change says so and resumes on the same page', async () => {
    await as('tilda', '/jobs/first', async (page) => {
      await heading(page, /First/);
      const { access_token: token } = await (await fetch(server.url + '/api/auth/login', {
        method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ name: 'tilda', password }),
      })).json();
      await server.api('POST', 'auth/password', { old_password: password, new_password: 'another battery horse' }, { Authorization: 'Bearer ' + token });
      await page.getByRole('link', { name: 'Runs' }).first().click();
      await form(page).waitFor();
      await page.getByText('Your session has ended. Sign in again.').waitFor();
      assert.match(page.url(), /\/runs$/);
      await signIn(page, 'tilda', 'another battery horse');
      await heading(page, 'Runs');
    });
  });

  test('a disabled user’s session ends while the page is open', async () => {
    await as('otto', '/jobs', async (page) => {
      await page.getByRole('link', { name: 'First', exact: true }).waitFor();
      const { user_id: id } = (await server.api('GET', 'users')).items.find((one) => one.name === 'otto');
      await server.api('PATCH', 'users/' + id, { disabled: true }, { 'If-Match': '*' });
      await server.api('POST', 'jobs', { job_id: 'third', name: 'Third', command: 'true' });
      await form(page).waitFor();
      assert.equal(await page.getByText('Third').count(), 0, 'nothing of what happened since');
      await page.getByLabel('Name').fill('otto');
      await page.getByLabel('Password', { exact: true }).fill(password);
      await form(page).click();
      await page.getByRole('alert').first().waitFor();
      assert.equal(await page.getByRole('navigation').count(), 0);
    });
  });
});

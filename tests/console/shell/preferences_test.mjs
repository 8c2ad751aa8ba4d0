// Preferences (language, theme, form of times): they follow the user from one browser to another.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signIn, until, withServer } from '../support/server.mjs';

const password = 'correct horse battery';
const { server, guest } = withServer(async () => {
  await server.api('POST', 'users', { name: 'anna', password, role: 'admin' });
});
const as = (body) => guest({ asked: ['/api/auth/'] }, async (page) => {
  await page.goto(server.url + '/');
  await signIn(page, 'anna', password);
  await body(page);
});
const kept = async () => {
  const login = await fetch(server.url + '/api/auth/login', {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ name: 'anna', password }),
  });
  const { access_token: token } = await login.json();
  return (await (await fetch(server.url + '/api/auth/me', { headers: { Authorization: 'Bearer ' + token } })).json()).preferences;
};

test('preferences of one browser apply in another after the sign-in, and back', async () => {
  await as(async (page) => {
    await page.getByLabel('Times').selectOption('utc');
    await page.getByRole('button', { name: /^Settings/ }).click();
    await page.getByLabel('Theme').selectOption('dark');
    await until(async () => (await kept()).theme === 'dark' && (await kept()).time === 'utc', 'what was chosen');
    assert.equal((await kept()).language, null);
  });
  await as(async (page) => {
    await until(async () => (await page.locator('html').getAttribute('data-theme')) === 'dark', 'the theme');
    assert.equal(await page.getByLabel('Times').inputValue(), 'utc');
    await page.getByRole('button', { name: /^Settings/ }).click();
    await page.getByLabel('Language').selectOption('zh-CN');
    await until(async () => (await page.locator('html').getAttribute('lang')) === 'zh-CN', 'the language');
    await until(async () => (await kept()).language === 'zh-CN', 'the choice');
  });
});

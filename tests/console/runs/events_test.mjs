// Events: the form makes a trigger and tests it, an event starts a run, and the pages say what it did.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heading, look, until, withServer } from '../support/server.mjs';

const EVENT = { id: '42', source: 'shop', type: 'order.paid', data: { amount: 12.5, note: 'by hand' } };
const { server, person } = withServer();

test('events: the form makes a trigger, and its box tells what an event would start', async () => {
  await person({}, async (page) => {
    await page.goto(server.url + '/jobs/new');
    await page.getByLabel('Name', { exact: true }).fill('Ship orders');
    await page.getByLabel('Job ID').fill('ship');
    await page.getByLabel('Command', { exact: true }).fill('true');
    await page.getByLabel('Trigger', { exact: true }).selectOption('event');
    await page.getByLabel('Event type', { exact: true }).fill('order.*');
    await page.getByLabel('Filter', { exact: true }).fill('data.amount > 9');
    await page
      .getByLabel('Parameters from the event')
      .fill('{"amount": "{{event.data.amount}}", "note": "{{event.data.note}}"}');
    await page.getByText('Test with an event').click();
    const box = page.getByRole('region', { name: 'Test the event' });
    await box.getByLabel('Event (JSON)').fill(JSON.stringify(EVENT));
    await box.getByRole('button', { name: 'Test the event' }).click();
    await box.locator('[data-result=matched]').waitFor();
    assert.match(await box.innerText(), /amount\s*12\.5/);
    assert.match(await box.innerText(), /"by hand"\s*from outside/);
    assert.deepEqual(await look(page, 'the test of a draft'), []);
    await box.getByLabel('Event (JSON)').fill(JSON.stringify({ ...EVENT, data: { amount: 1 } }));
    await box.getByRole('button', { name: 'Test the event' }).click();
    await box.locator('[data-result=no_match]').waitFor();
    await box.getByLabel('Event (JSON)').fill('[');
    await box.getByText('Must be a JSON object.').waitFor();
    assert.equal(await box.getByRole('button', { name: 'Test the event' }).isDisabled(), true);
    await page.getByRole('button', { name: 'Create job' }).click();
    await heading(page, 'Ship orders');
    await page.getByText('On events order.*').first().waitFor();
    await page.getByText('No fires are planned: events start this job.').waitFor();
  });
  const [trigger] = (await server.api('GET', 'jobs/ship')).schedules;
  assert.equal(trigger.type, 'order.*');
  assert.equal(trigger.filter, 'data.amount > 9');
  assert.equal((await server.api('GET', 'runs?job_id=ship')).items.length, 0); // a test starts nothing
});

test('events: the page lists an event and its run, which names the event', async () => {
  await server.api('POST', 'events', EVENT);
  await until(async () => (await server.api('GET', 'events')).items.length > 0, 'the event');
  await person({}, async (page) => {
    await page.goto(server.url + '/runs');
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    await heading(page, 'Events');
    const row = page.getByRole('row').filter({ hasText: 'order.paid' });
    await row.getByText('Started').waitFor();
    assert.deepEqual(await look(page, 'events'), []);
    await page.getByLabel('Outcome').selectOption('refused');
    await page.getByText('No matches').waitFor();
    assert.equal(new URL(page.url()).search, '?outcome=refused');
    await page.goBack();
    await page.getByText('Test an event against all schedules').click();
    const box = page.getByRole('region', { name: 'Test the event' });
    await box.getByLabel('Event (JSON)').fill(JSON.stringify(EVENT));
    await box.getByRole('button', { name: 'Test the event' }).click();
    await box.getByRole('link', { name: 'ship', exact: true }).waitFor();
    await row.getByRole('link', { name: 'Run of ship' }).click();
    const card = page.getByRole('region', { name: 'Started by event' });
    await card.getByText('order.paid').waitFor();
    assert.match(await card.innerText(), /shop[\s\S]*42/);
    assert.deepEqual(await look(page, 'the run of an event'), []);
    await card.getByRole('link', { name: 'All it started' }).click();
    await heading(page, 'Events');
    assert.equal(new URL(page.url()).search, '?source=shop&id=42');
    await row.waitFor();
  });
});

test('events: the page fits a phone, in Chinese', async () => {
  await person({ locale: 'zh-CN', width: 360, theme: 'dark' }, async (page) => {
    await page.goto(server.url + '/events');
    await heading(page, '事件');
    await page.getByText('order.paid').waitFor();
    assert.deepEqual(await look(page, 'events on a phone'), []);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wide <= 0, `${wide} px too wide`);
  });
});

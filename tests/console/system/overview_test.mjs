// The overview with more jobs than one page of a list can have, in a real browser against a real server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heading, look, until, withServer } from '../support/server.mjs';

const MANY = 520; // a page has at most 500 jobs, in the order of ids
const AT_ONCE = 8;
const { server, person } = withServer(async () => {
  const ids = Array.from({ length: MANY }, (_, i) => 'a-' + String(i).padStart(3, '0'));
  const make = async () => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      await server.api('POST', 'jobs', { job_id: id, name: id, command: 'true', schedules: [{ kind: 'once', at: '2099-01-01T00:00:00Z' }] });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, make));
  await server.api('POST', 'jobs', { job_id: 'z-soon', name: 'Z soon', command: 'true', cron_expression: '* * * * *' });
  await server.api('POST', 'jobs', { job_id: 'z-paused', name: 'Z paused', command: 'true', cron_expression: '* * * * *', enabled: false });
});

test('overview: a hanging card does not hide the cards below', async () => {
  await person({}, async (page) => {
    await page.route(/\/api\/gaps/, () => {}); // never answered
    await page.route(/\/api\/executors/, async (route) => {
      const response = await route.fetch();
      const all = await response.json();
      await route.fulfill({ response, json: { ...all, items: all.items.map((one) => ({ ...one, state: 'LOST' })) } });
    });
    await page.goto(server.url + '/');
    await page.getByText(/^Executor .*: Lost$/i).waitFor();
    await page.getByTestId('next').getByRole('link', { name: 'Z soon' }).waitFor();
    await page.getByRole('heading', { name: 'Recent failures' }).waitFor();
  });
});

test('overview: a part that failed to load is requested again', async () => {
  await person({ asked: ['/assets/'] }, async (page) => {
    await page.route(/\/attention[^/]*\.js/, (route) => route.abort());
    await page.goto(server.url + '/');
    await page.getByText('Part of the console failed. Reload the page.').waitFor();
    await page.unroute(/\/attention[^/]*\.js/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByTestId('next').getByRole('link', { name: 'Z soon' }).waitFor();
    assert.equal(await page.getByText('did not load', { exact: false }).count(), 0);
  });
});

test('overview: a failed read is not reported as healthy', async () => {
  await person({ asked: ['/api/gaps'] }, async (page) => {
    await page.route(/\/api\/gaps/, (route) => route.fulfill({ status: 503, json: { type: 'about:blank', title: 'x', status: 503, code: 'store_unavailable', detail: 'x' } }));
    await page.goto(server.url + '/');
    await page.locator('p[role=status].text-warn').first().waitFor();
    assert.equal(await page.getByText('Nothing needs attention', { exact: false }).count(), 0);
  });
});

test('overview: the next hour lists fires of any job ID and starts a run', async () => {
  await person({}, async (page) => {
    await page.goto(server.url + '/');
    const next = page.getByTestId('next');
    await next.getByRole('link', { name: 'Z soon' }).waitFor();
    assert.deepEqual(await next.getByRole('link').allTextContents(), ['Z soon']);
    assert.match(await next.innerText(), /(59|60) fires in this hour/);
    assert.equal(await page.getByRole('heading', { name: 'Get started' }).count(), 0);
    const [want] = (await server.api('GET', 'jobs/z-soon/next?n=1')).items;
    await until(async () => (await next.locator('time').getAttribute('datetime')) >= want.fire_time, 'its next fire');
    assert.deepEqual(await look(page, 'overview'), []);
    await next.getByRole('button', { name: 'Run Z soon now' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/runs/*');
    await page.locator('h1 [data-state=COMPLETED]').waitFor();
  });
});

test('overview: a new job appears by itself, and a reader sees why it cannot be run', async () => {
  const { token } = await server.api('POST', 'tokens', { name: 'reader', role: 'read_only' });
  await person({ token, locale: 'zh-CN', width: 360 }, async (page) => {
    await page.goto(server.url + '/');
    const next = page.getByTestId('next');
    await next.getByRole('link', { name: 'Z soon' }).waitFor();
    await server.api('POST', 'jobs', { job_id: 'z-new', name: 'Z new', command: 'true', cron_expression: '* * * * *' });
    await next.getByRole('link', { name: 'Z new' }).waitFor();
    const run = next.getByRole('button').first();
    assert.ok(await run.isDisabled());
    assert.equal(await run.getAttribute('title'), '您的角色为只读。');
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wide <= 0, `${wide} px too wide`);
  });
});

test('overview: the success tile counts runs of 24 hours and links to them', async () => {
  await server.api('POST', 'jobs', { job_id: 'bad', name: 'Bad', command: 'exit 3' });
  await server.api('POST', 'jobs/bad/execute', {});
  const ended = async () => (await server.api('GET', 'runs?state=COMPLETED&state=FAILED&page_size=500')).items;
  await until(async () => (await ended()).some((run) => run.state === 'FAILED'), 'a failure');
  await person({}, async (page) => {
    await page.goto(server.url + '/');
    const tile = page.getByRole('link', { name: /^Success/ });
    await until(async () => {
      const runs = await ended();
      const share = Math.floor((runs.filter((run) => run.state === 'COMPLETED').length * 100) / runs.length);
      return (await tile.innerText()).replace(/\s+/g, ' ') === `Success rate ${share}% ${runs.length} runs, last 24 h`;
    }, 'the share');
    await tile.click();
    await heading(page, 'Runs');
    const { searchParams } = new URL(page.url());
    const back = Date.now() - Date.parse(searchParams.get('since'));
    assert.ok(back >= 86_400_000 && back < 86_400_000 + 120_000, `${back} ms`);
    await page.getByRole('link', { name: 'Bad' }).waitFor();
  });
});

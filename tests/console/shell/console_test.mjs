// The console in a real browser against a real server.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { editorOf, heading, startProxy, startServer, until, withServer } from '../support/server.mjs';

const { server, person } = withServer();
const open = (page, path) => page.goto(server.url + path);
const job = (id, changes = {}) =>
  server.api('POST', 'jobs', { job_id: id, name: id, command: 'true', ...changes });

describe('signing in', () => {
  test('sign-in: a wrong token is refused at its field, a valid one opens the requested page', async () => {
    await person({ token: undefined, asked: ['/api/jobs?page_size=1'] }, async (page) => {
      await open(page, '/runs');
      const field = page.getByLabel('API token');
      await field.fill('wrong');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByText('This token is unknown').waitFor();
      assert.equal(await field.getAttribute('aria-invalid'), 'true');
      await field.fill(server.token);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await heading(page, 'Runs');
      // The token must not outlive the tab, so it is not in localStorage.
      const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }));
      assert.ok(!kept.includes(server.token));
      await page.reload();
      await heading(page, 'Runs');
      await page.getByRole('button', { name: 'Settings' }).click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('API token').waitFor();
    });
  });

  test('sign-in: an ended token leads back to the sign-in page', async () => {
    await person({ token: 'ended', asked: ['/api/'] }, async (page) => {
      await open(page, '/jobs');
      await page.getByText('Your session has ended').waitFor();
    });
  });
});

describe('a job', () => {
  test('job form: an invalid cron is refused at its field, a valid one shows the scheduler’s fires', async () => {
    await person({}, async (page) => {
      await open(page, '/jobs/new');
      await page.getByLabel('Name', { exact: true }).fill('Every morning');
      await page.getByLabel('Command').fill('printf "\\033[32mgreen\\033[0m <b id=injected>bold</b>\\n"');
      const cron = page.getByLabel('Cron expression');
      await cron.fill('61 2 * * *');
      await page.getByText(/61 is out of range/).waitFor();
      assert.equal(await cron.getAttribute('aria-invalid'), 'true');
      await cron.fill('30 2 * * *');
      await page.getByLabel('Time zone', { exact: true }).fill('Europe/Paris');
      const want = await server.api('POST', 'schedules/preview',
        { cron_expression: '30 2 * * *', time_zone: 'Europe/Paris', n: 5 });
      const fires = want.items.map((fire) => fire.fire_time);
      await until(async () => {
        const shown = await page.locator('[data-fire]').evaluateAll((all) => all.map((one) => one.dataset.fire));
        return JSON.stringify(shown) === JSON.stringify(fires);
      }, 'the five fires');
      await page.getByText(want.explanations[0]).waitFor();
      await page.getByRole('button', { name: 'Create job' }).click();
      await heading(page, /Every morning/);
      const [, id] = /\/jobs\/(every-morning[a-z0-9-]*)$/.exec(page.url());
      const made = await server.api('GET', 'jobs/' + id);
      assert.equal(made.cron_expression, '30 2 * * *');
      assert.equal(made.time_zone, 'Europe/Paris');
    });
  });

  test('job form: an invalid value is not sent, a refused one is shown at its field', async () => {
    await person({ asked: ['/api/jobs'] }, async (page) => {
      await open(page, '/jobs/new');
      await page.getByRole('button', { name: 'Create job' }).click();
      await page.getByText('This field is required.').first().waitFor();
      await page.getByLabel('Name', { exact: true }).fill('Refused');
      await page.getByLabel('Command').fill('true');
      await page.getByLabel('Trigger', { exact: true }).selectOption('manual');
      await page.getByLabel('Executor selector').fill('zone = ');
      await page.getByRole('button', { name: 'Create job' }).click();
      const field = page.getByLabel('Executor selector');
      await until(async () => (await field.getAttribute('aria-invalid')) === 'true', 'the error at its field');
      assert.equal(await field.inputValue(), 'zone = ');
      const all = await server.api('GET', 'jobs?q=refused');
      assert.equal(all.items.length, 0);
    });
  });

  test('run now: the run page turns green and shows the output as text', async () => {
    await job('greeter', { command: 'printf "\\033[32mgreen\\033[0m <b id=injected>bold</b>\\n"; seq 1 20' });
    await person({}, async (page) => {
      await open(page, '/jobs/greeter');
      await page.getByRole('button', { name: 'Run now' }).click();
      await page.waitForURL('**/runs/*');
      await page.locator('h1 [data-state=COMPLETED]').waitFor();
      const log = page.getByRole('log');
      await log.getByText('<b id=injected>bold</b>').waitFor();
      assert.equal(await page.locator('#injected').count(), 0);
      assert.equal(await log.locator('.ansi-2').first().textContent(), 'green');
      await page.getByLabel('Search the output').fill('17');
      await page.getByText('1 of 1').waitFor();
      const [download] = await Promise.all([
        page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click(),
      ]);
      assert.match(download.suggestedFilename(), /\.log$/);
    });
  });

  test('run now: a double click starts one run', async () => {
    await job('twice');
    await person({ asked: ['/execute'] }, async (page) => {
      await open(page, '/jobs');
      await page.getByRole('button', { name: 'Run twice now' }).dblclick();
      await page.waitForURL('**/runs/*');
      await page.locator('h1 [data-state=COMPLETED]').waitFor();
      const runs = await server.api('GET', 'runs?job_id=twice');
      assert.equal(runs.items.length, 1);
    });
  });

  test('job form: an overtaken edit asks which version to keep', async () => {
    await job('contested', { description: 'first' });
    await person({ asked: ['/api/jobs/contested'] }, async (page) => {
      await open(page, '/jobs/contested/edit');
      await page.getByLabel('Description').fill('mine');
      await server.api('PATCH', 'jobs/contested', { description: 'theirs' }, { 'If-Match': '"v1"' });
      await page.getByRole('button', { name: 'Save' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('theirs', { exact: true }).waitFor();
      await dialog.getByText('mine', { exact: true }).waitFor();
      await dialog.getByRole('button', { name: 'Overwrite with mine' }).click();
      await page.waitForURL(/\/jobs\/contested$/);
      assert.equal((await server.api('GET', 'jobs/contested')).description, 'mine');
    });
  });

  test('job form: unsaved changes ask before leaving, and YAML and form agree', async () => {
    await job('yamlled', { cron_expression: '0 3 * * *', catch_up_max: 7 });
    await person({}, async (page) => {
      await open(page, '/jobs/yamlled/edit');
      await page.getByLabel('Description').fill('changed');
      await page.getByRole('link', { name: 'Runs' }).click();
      await page.getByRole('button', { name: 'Stay' }).click();
      await page.getByRole('button', { name: 'YAML' }).click();
      const { text, write } = await editorOf(page, 'YAML');
      const yaml = await text();
      assert.match(yaml, /description: changed/);
      assert.match(yaml, /catch_up_max: 7/);
      await write(yaml.replace('0 3 * * *', '0 4 * * *'));
      await page.getByRole('button', { name: 'Form', exact: true }).click();
      assert.equal(await page.getByLabel('Cron expression').inputValue(), '0 4 * * *');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.waitForURL(/\/jobs\/yamlled$/);
      const saved = await server.api('GET', 'jobs/yamlled');
      assert.deepEqual([saved.cron_expression, saved.catch_up_max, saved.description], ['0 4 * * *', 7, 'changed']);
    });
  });

  test('job page: a job is paused with a reason, resumed and deleted', async () => {
    await job('mortal');
    await person({ asked: ['/api/jobs/mortal'] }, async (page) => {
      await open(page, '/jobs/mortal');
      await page.getByRole('button', { name: 'Pause', exact: true }).click();
      await page.getByLabel('Reason (optional)').fill('holidays');
      await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
      await page.getByText('Paused: holidays').waitFor();
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.locator('h1 [data-state=ENABLED]').waitFor();
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await heading(page, 'Jobs');
      assert.equal((await server.api('GET', 'jobs?q=mortal')).items.length, 0);
    });
  });
});

describe('lists', () => {
  test('lists: filters are in the URL, survive a reload and are undone by back', async () => {
    await job('alpha');
    await job('beta', { enabled: false });
    await person({}, async (page) => {
      await open(page, '/jobs');
      await page.getByRole('link', { name: 'alpha' }).waitFor();
      await page.getByRole('button', { name: 'Paused', exact: true }).click();
      await page.getByRole('link', { name: 'alpha' }).waitFor({ state: 'detached' });
      await page.waitForURL('**/jobs?status=PAUSED');
      await page.reload();
      await page.getByRole('link', { name: 'beta' }).waitFor();
      assert.equal(await page.getByRole('button', { name: 'Paused', exact: true }).getAttribute('aria-pressed'), 'true');
      await page.goBack();
      await page.getByRole('link', { name: 'alpha' }).waitFor();
      await page.getByRole('searchbox').fill('no such job');
      await page.getByText('No matches').waitFor();
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await page.getByRole('link', { name: 'alpha' }).waitFor();
      await open(page, '/runs?state=FAILED&state=LOST');
      assert.equal(await page.getByRole('button', { name: 'Lost' }).getAttribute('aria-pressed'), 'true');
      await page.getByText('No matches').waitFor();
    });
  });

  test('lists: runs are filtered by trigger and by owner of the job', async () => {
    await job('by-hand', { user_id: 'somebody-else' });
    const { run_id } = await server.api('POST', 'jobs/by-hand/execute', {});
    await person({}, async (page) => {
      await open(page, '/runs?job_id=by-hand');
      const row = page.getByRole('link', { name: 'by-hand' });
      await row.first().waitFor();
      await page.getByLabel('Trigger').selectOption({ label: 'Cron' });
      await page.waitForURL(/kind=/);
      await page.getByText('No matches').waitFor();
      await page.getByLabel('Trigger').selectOption({ label: 'Manual' });
      await row.first().waitFor();
      await open(page, '/runs?job_id=by-hand&user_id=nobody');
      await page.getByText('No matches').waitFor();
      assert.equal(await page.getByLabel('Owner').inputValue(), 'nobody');
      await page.getByLabel('Owner').selectOption({ label: 'All owners' });
      await row.first().waitFor();
      await open(page, '/runs/' + run_id);
      await page.getByText((await server.api('GET', 'runs/' + run_id)).trace_id).waitFor();
    });
  });

  test('system: a live setting is changed, and an invalid value is refused', async () => {
    await person({ asked: ['/api/system/config'] }, async (page) => {
      await open(page, '/system');
      await page.getByRole('button', { name: 'Change retention_days' }).click();
      await page.getByLabel('Value').fill('many');
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').getByRole('alert').waitFor();
      await page.getByLabel('Value').fill('21');
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      assert.equal((await server.api('GET', 'system/config')).settings.retention_days, '21');
      await open(page, '/admin/audit');
      await page.getByRole('cell', { name: 'Changed settings', exact: true }).waitFor();
    });
  });
});

describe('all pages', () => {
  const many = () => server.api('POST', 'bulk', { action: 'resume', kind: 'job', ids: ['greeter', 'no-such-job'], background: true });
  const pages = async () => {
    const runs = await server.api('GET', 'runs?state=COMPLETED&page_size=1');
    return ['/', '/jobs', '/jobs/new', '/jobs/greeter', '/jobs/greeter?tab=configuration', '/jobs/greeter/edit', '/runs',
      '/runs/' + runs.items[0].run_id, '/gaps', '/events', '/backfills', '/bulk', '/bulk/' + (await many()).bulk_id, '/executors', '/executors/' + (await server.api('GET', 'executors')).items[0].executor_id, '/system', '/admin/users', '/admin/tokens', '/admin/secrets', '/groups', '/calendars', '/calendars?new=yes', '/admin/deliveries', '/admin/dead-letters', '/admin/audit', '/account', '/schedule', '/schedule?view=week', '/jobs/greeter?tab=versions', '/jobs/greeter?tab=why', '/jobs/greeter?tab=dependencies', '/no-such-page'];
  };
  // A page is loaded when it has a heading and no text that says it is still loading.
  const settled = async (page) => {
    await page.locator('h1').waitFor();
    await until(async () => (await page.getByText(/^(Loading…|加载中…)$/).count()) === 0, 'the page');
  };

  test('pages: each has one language and fits a phone', async () => {
    for (const [locale, lang] of [['en-GB', 'en'], ['zh-CN', 'zh-CN']]) {
      await person({ locale, width: 360, asked: ['/api/jobs/no-such-job'] }, async (page) => {
        for (const path of await pages()) {
          await open(page, path);
          await settled(page);
          const text = await page.locator('body').innerText();
          assert.equal(await page.locator('html').getAttribute('lang'), lang);
          assert.equal(/[\u4e00-\u9fff]/.test(text), lang !== 'en', `${lang} ${path}: ${text.slice(0, 300)}`);
          assert.doesNotMatch(text, /\b(nav|jobs|runs|run|gaps|form|state|option|system|audit|users|tokens|secrets|groups|calendars|queue|deliveries|notice|channel|account|role|lifetime|plan|bulk|bulk_title|shares|problem|field|why|versions|hint|join|next|executors|palette|output|overview|tile|deps|events|trigger)\.[a-z_]+\b/, path);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
          assert.ok(wide <= 0, `${path} is ${wide} px too wide`);
        }
      });
    }
  });

  test('overview: the failure map fits a common screen', async () => {
    await job('broken', { command: 'exit 3' });
    await server.api('POST', 'jobs/broken/execute', {});
    await until(async () => (await server.api('GET', 'runs?state=FAILED&job_id=broken')).items.length === 1, 'a failure');
    await person({ width: 1280 }, async (page) => {
      await open(page, '/');
      const frame = page.getByRole('region', { name: 'Failures in the last 7 days, by hour' }).last();
      await frame.getByRole('link').first().waitFor();
      assert.deepEqual(await frame.evaluate((box) => box.scrollWidth - box.clientWidth), 0);
    });
  });

  test('keyboard: skip link, go-to keys and palette reach every page', async () => {
    await person({}, async (page) => {
      await open(page, '/');
      await heading(page, 'Overview');
      await page.keyboard.press('Tab');
      assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to content');
      await page.keyboard.press('Enter');
      assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
      await page.keyboard.press('g');
      await page.keyboard.press('e');
      await heading(page, 'Executors');
      await page.keyboard.press('Control+k');
      const field = page.getByLabel('Go to a page or run an action').locator('visible=true').last();
      await field.waitFor();
      await page.keyboard.type('greeter');
      await page.getByRole('option', { name: /greeter/ }).first().waitFor();
      await page.keyboard.press('Enter');
      await heading(page, /greeter/);
    });
  });

  test('prefix: links and reloads work behind a path', async () => {
    const proxy = await startProxy(server.url, '/ops/carillon');
    try {
      await person({}, async (page) => {
        await page.goto(proxy.url + '/jobs');
        await page.getByRole('link', { name: 'greeter' }).click();
        await heading(page, /greeter/);
        assert.equal(new URL(page.url()).pathname, '/ops/carillon/jobs/greeter');
        await page.reload();
        await heading(page, /greeter/);
      });
    } finally {
      proxy.stop();
    }
  });

  test('banner: an outage is reported and its end is noticed without a reload', async () => {
    await person({ asked: ['/api/'] }, async (page) => {
      await open(page, '/jobs');
      await page.getByRole('link', { name: 'greeter' }).waitFor();
      await page.route('**/api/**', (route) => route.abort());
      await page.getByText('The server is not responding. Last update').waitFor();
      assert.ok(await page.getByRole('link', { name: 'greeter' }).isVisible());
      await page.unroute('**/api/**');
      await page.getByText('The server is not responding. Last update').waitFor({ state: 'detached' });
    });
  });
});

describe('people with a password', () => {
  let own;
  before(async () => { own = await startServer(); });
  after(() => own?.stop());
  const password = 'correct horse battery';

  test('setup: the link creates the first administrator once', async () => {
    const { path } = await own.api('POST', 'auth/setup-link');
    await person({ token: undefined, asked: ['/api/auth/setup'] }, async (page) => {
      await page.goto(own.url + path);
      await page.getByLabel('Name').fill('anna');
      await page.getByLabel('Password', { exact: true }).fill('short');
      await page.getByLabel('Repeat the password').fill('short');
      const make = page.getByRole('button', { name: 'Create administrator' });
      await make.click();
      await page.getByText(/at least 10/).waitFor();
      await page.getByLabel('Password', { exact: true }).fill(password);
      await page.getByLabel('Repeat the password').fill(password);
      await make.click();
      await page.getByRole('navigation').first().waitFor();
    });
    await person({ token: undefined, asked: ['/api/auth/setup'] }, async (page) => {
      await page.goto(own.url + path);
      await page.getByLabel('Name').fill('eve');
      await page.getByLabel('Password', { exact: true }).fill(password);
      await page.getByLabel('Repeat the password').fill(password);
      await page.getByRole('button', { name: 'Create administrator' }).click();
      await page.getByRole('alert').waitFor();
    });
    const users = (await own.api('GET', 'users')).items;
    assert.deepEqual(users.map((user) => [user.name, user.role]), [['anna', 'admin']]);
  });

  test('sign-in: a password session survives a reload and ends at sign-out', async () => {
    await person({ token: undefined, asked: ['/api/auth/'] }, async (page) => {
      await page.goto(own.url + '/jobs');
      await page.getByLabel('Name').fill('anna');
      await page.getByLabel('Password', { exact: true }).fill('wrong password');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('alert').waitFor();
      await page.getByLabel('Password', { exact: true }).fill(password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await heading(page, 'Jobs');
      const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
      assert.ok(!kept.includes('eyJ'), 'no token where scripts can read it');
      await page.reload();
      await heading(page, 'Jobs');
      await page.getByRole('button', { name: 'Settings' }).click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Password', { exact: true }).waitFor();
      await page.reload();
      await page.getByLabel('Password', { exact: true }).waitFor();
    });
  });

  test('roles: a read-only user sees disabled actions, and the server refuses them', async () => {
    await own.api('POST', 'users', { name: 'rita', password, role: 'read_only' });
    await own.api('POST', 'jobs', { job_id: 'seen', name: 'Seen', command: 'true' });
    await person({ token: undefined, asked: ['/api/jobs/seen/execute'] }, async (page) => {
      await page.goto(own.url + '/jobs/seen');
      await page.getByLabel('Name').fill('rita');
      await page.getByLabel('Password', { exact: true }).fill(password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await heading(page, 'Seen');
      assert.ok(await page.getByRole('button', { name: 'Run now' }).first().isDisabled());
      const signedIn = await page.evaluate(async (credentials) => {
        const answer = await fetch('/api/auth/login', {
          method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(credentials),
        });
        const { access_token: token } = await answer.json();
        const refused = await fetch('/api/jobs/seen/execute', {
          method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: 'Bearer ' + token }, body: '{}',
        });
        return [refused.status, (await refused.json()).permission];
      }, { name: 'rita', password });
      assert.deepEqual(signedIn, [403, 'jobs:run']);
    });
  });
});

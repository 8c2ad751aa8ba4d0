// Permissions as the buttons of each page show them: one table of page × action × person, in a real browser
// against a real server. role_matrix_test.cc tests which requests the server refuses. This test checks that the
// console disables the same actions and shows the reason.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { until, withServer } from '../support/server.mjs';

const REASONS = {
  '+': 'may',
  look: 'Your role is read-only.',
  own: 'Owned by another user and not shared with you.',
  admin: 'Only administrators can do this.',
  secret: 'Only the owner or an administrator can do this.',
  users: 'Only administrators can manage users.',
  notices: 'Only administrators can send notifications.',
};
// [the user, the job's relation to that user]. {job} and {run} in TABLE stand for this job and its run.
const PEOPLE = [
  ['anna', 'others'], ['uma', 'own'], ['uma', 'shared'], ['uma', 'others'], ['rita', 'others'],
];
const TABLE = `
  page             action                    admin  own    shared others read_only
  /jobs            New job                   +      +      +      +      look
  /jobs            Import                    +      +      +      +      look
  /jobs            Export                    +      +      +      +      +
  /jobs            Run {name} now            +      +      +      own    look
  /jobs            {name}: Run with…         +      +      +      own    look
  /jobs            {name}: Pause             +      +      +      own    look
  /jobs            {name}: Edit              +      +      +      own    look
  /jobs            {name}: Duplicate         +      +      +      +      look
  /jobs            {name}: Delete            +      +      +      own    look
  /jobs/new        Create job                +      +      +      +      look
  /import          Preview changes           +      +      +      +      look
  /import          Apply                     +      +      +      +      look
  /jobs/{job}      Run now                   +      +      +      own    look
  /jobs/{job}      Run with…                 +      +      +      own    look
  /jobs/{job}      Pause                     +      +      +      own    look
  /jobs/{job}      Edit                      +      +      +      own    look
  /jobs/{job}      Duplicate                 +      +      +      +      look
  /jobs/{job}      Cancel runs…              +      +      +      own    look
  /jobs/{job}      Delete                    +      +      +      own    look
  /jobs/{job}/edit Save                      +      +      +      own    look
  /jobs/{job}?tab=versions Revert to version 1 +    +      +      own    look
  /runs/{run}      Retry                     +      +      +      own    look
  /runs/{run}      Run again…                +      +      +      own    look
  /runs/{run}      Download                  +      +      +      +      +
  /runs/{going}    Cancel run                +      +      +      own    look
  /executors       Add an executor           +      admin  admin  admin  admin
  /executors       Drain                     +      admin  admin  admin  admin
  /executors       Disable                   +      admin  admin  admin  admin
  /executors       Labels                    +      admin  admin  admin  admin
  /executors/{executor} Drain                +      admin  admin  admin  admin
  /executors/{executor} Disable              +      admin  admin  admin  admin
  /executors/{executor} Labels               +      admin  admin  admin  admin
  /system          Change retention_days     +      admin  admin  admin  admin
  /system          Change log.level          +      admin  admin  admin  admin
  /admin/users     New user                  +      users  users  users  users
  /admin/tokens    New token                 +      +      +      +      +
  /groups          New group                 +      admin  admin  admin  admin
  /calendars       New calendar              +      admin  admin  admin  admin
  /admin/secrets   New secret                +      +      +      +      look
  /admin/secrets   Edit uma_db               +      +      +      +      secret
  /admin/secrets   Edit anna_db              +      secret secret secret secret
  /admin/secrets   Delete anna_db            +      secret secret secret secret
  /admin/deliveries Send a test notification +      notices notices notices notices
`;
const rows = TABLE.trim().split('\n').slice(1).map((line) => {
  const words = line.trim().split(/\s+/);
  return { path: words[0], action: words.slice(1, -5).join(' '), expected: words.slice(-5) };
});

const password = 'correct horse battery';
let executor;
const tokens = {};
const jobs = {};
// Cancels the runs before the server is stopped, because their processes would outlive it.
after(async () => {
  for (const id of Object.keys(jobs ?? {})) await server.api('POST', `jobs/${id}-going/cancel`, {});
});
const { server, open } = withServer(async () => {
  const ids = {};
  for (const [name, role, more] of [['anna', 'admin', {}], ['uma', 'user', { shares: [{ namespace: 'payroll' }] }], ['rita', 'read_only', {}]]) {
    ids[name] = (await server.api('POST', 'users', { name, role, password, ...more })).user_id;
    const entered = await fetch(server.url + '/api/auth/login', {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ name, password }),
    });
    tokens[name] = (await entered.json()).access_token;
  }
  for (const name of ['uma', 'anna']) {
    await server.api('POST', 'secrets', { name: name + '_db', value: 'pass word' }, { Authorization: 'Bearer ' + tokens[name] });
  }
  for (const [id, more] of [['own', { user_id: ids.uma }], ['shared', { namespace: 'payroll' }], ['others', {}]]) {
    const make = async (job, command) => {
      await server.api('POST', 'jobs', { job_id: job, name: 'Job ' + job, command, ...more });
      await server.api('PATCH', 'jobs/' + job, { description: 'second' }, { 'If-Match': '"v1"' });
      return (await server.api('POST', `jobs/${job}/execute`, {})).run_id;
    };
    jobs[id] = { run: await make(id, 'exit 3'), going: await make(id + '-going', 'sleep 600') };
  }
  for (const { run, going } of Object.values(jobs)) {
    await until(async () => (await server.api('GET', 'runs/' + run)).state === 'FAILED', 'the end of a run');
    await until(async () => (await server.api('GET', 'runs/' + going)).state === 'RUNNING', 'a run');
  }
  [{ executor_id: executor }] = (await server.api('GET', 'executors')).items;
});

const actionsOn = (page, name) => page.getByRole('main').locator('button, a.button').filter({ visible: true })
  .and(page.getByRole('button', { name, exact: true }).or(page.getByRole('link', { name, exact: true }))).first();

// Returns 'may' for an enabled button, else the reason it shows; 'disabled' if it shows none.
async function said(element) {
  await element.waitFor();
  const { disabled, title } = await element.evaluate((one) => ({
    disabled: Boolean(one.disabled) || one.getAttribute('aria-disabled') === 'true' || one.hasAttribute('disabled'),
    title: one.getAttribute('title') ?? '',
  }));
  return disabled ? title || 'disabled' : 'may';
}

async function find(page, action) {
  const [, job, item] = action.match(/^(Job \w+): (.+)$/) ?? [];
  if (!job) return said(actionsOn(page, action));
  const menu = page.getByRole('menu');
  if ((await menu.count()) === 0) await page.getByRole('button', { name: 'More actions for ' + job, exact: true }).click();
  return said(menu.getByRole('menuitem', { name: item, exact: true }));
}

const byPath = new Map(rows.map(({ path }) => [path, rows.filter((row) => row.path === path)]));
PEOPLE.forEach(([person, whose], column) => {
  test(`roles: ${person} sees the permitted actions on a job of ${whose}`, async () => {
    const { page, problems, close } = await open({ token: tokens[person], asked: ['/api/'] });
    const fill = (text) => text.replace('{job}', whose).replace('{name}', 'Job ' + whose).replace('{run}', jobs[whose].run)
      .replace('{going}', jobs[whose].going).replace('{executor}', executor);
    const told = [];
    page.setDefaultTimeout(30_000); // of each action that is not there
    try {
      for (const [path, actions] of byPath) {
        await page.goto(server.url + fill(path));
        for (const { action, expected } of actions) {
          const found = await find(page, fill(action)).catch((error) => 'not there: ' + error.message.split('\n')[0]);
          // Apply is disabled until there is a file. A user who may apply sees no reason.
          const ready = path !== '/import' || expected[column] !== '+' ? found : found.replace('disabled', 'may');
          if (ready !== REASONS[expected[column]]) told.push(`${path} ${action}: ${ready}, not: ${REASONS[expected[column]]}`);
        }
      }
      assert.deepEqual([...told, ...problems], []);
    } finally {
      await close();
    }
  });
});

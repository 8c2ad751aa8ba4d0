// The editor of workflows and of the YAML of a job, the lines in which versions differ, the newest runs of workflows, and
// the workflows that use a job, in a real browser against a real server.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { editorOf, heading, look, until, withServer } from '../support/server.mjs';

const node = (id, job, after = []) => ({ id, job, ...(after.length > 0 ? { after } : {}) });
const NODES = [node('load', 'load'), node('audit', 'audit', ['load']), node('again', 'load', ['audit'])];
const { server, person } = withServer(async () => {
  for (const id of ['load', 'audit', 'load-orders']) await server.api('POST', 'jobs', { job_id: id, name: 'Job ' + id, command: 'true' });
  await server.api('POST', 'jobs', { job_id: 'sales', name: 'Sales', type: 'workflow', workflow: { nodes: NODES } });
  const more = { nodes: [...NODES.slice(0, 2), node('check', 'load-orders', ['audit'])] };
  await server.api('PATCH', 'jobs/sales', { workflow: more, priority: 7 }, { 'If-Match': '"v1"' });
});
const at = (path, options, body) => person(options, async (page) => {
  await page.goto(server.url + path);
  await body(page);
});
// The element with the focus, also in a shadow tree.
const focused = (page) => page.evaluate(() => {
  let one = document.activeElement;
  while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
  return one?.getAttribute('aria-label') ?? one?.textContent?.trim() ?? '';
});

describe('the editor of a workflow', () => {
  test('ids of jobs and nodes are suggested, and a problem leads to its line', async () => {
    await at('/jobs/sales/edit', {}, async (page) => {
      const { text, write } = await editorOf(page, 'Nodes (YAML)');
      assert.match(await text(), /- id: check\n +job: load-orders/);
      await write('nodes:\n  - {id: load, job: load}\n  - {id: audit, job: audit, after: [lod]}\n');
      const problems = page.getByRole('list', { name: 'Problems in the text' });
      await problems.getByText("'lod'").waitFor();
      assert.equal(await page.locator('.cm-line.cm-wrong').count(), 1);
      assert.deepEqual(await look(page, 'the editor with a problem'), []);
      await problems.getByRole('button', { name: 'Line 3' }).click();
      assert.equal(await focused(page), 'Nodes (YAML)');
      assert.match(await page.locator('.cm-activeLine').innerText(), /id: audit/);

      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      await page.keyboard.type('- id: last', { delay: 20 });
      await page.keyboard.press('Enter');
      await page.keyboard.type('job: load-o', { delay: 20 });
      await page.locator('.cm-tooltip-autocomplete').getByRole('option', { name: /load-orders/ }).waitFor();
      assert.deepEqual(await look(page, 'the suggestions'), []);
      // The list takes no key in its first moment, so that a line that ends then is not completed by accident.
      await page.waitForTimeout(150);
      await page.keyboard.press('Enter');
      await page.keyboard.press('Enter');
      await page.keyboard.type('after: [au', { delay: 20 });
      await page.locator('.cm-tooltip-autocomplete').getByRole('option', { name: 'audit' }).waitFor();
      await page.waitForTimeout(150);
      await page.keyboard.press('Enter');
      await page.keyboard.type(']');
      assert.match(await text(), /\n {2}- id: last\n {4}job: load-orders\n {4}after: \[audit\]/);
    });
  });

  test('a text that cannot be read keeps the last graph and names the line', async () => {
    await at('/jobs/sales/edit', { width: 360, theme: 'dark' }, async (page) => {
      const { write } = await editorOf(page, 'Nodes (YAML)');
      await write('nodes:\n  - {id: one, job: load}\n');
      const drawing = page.getByRole('region', { name: /Graph of the workflow/ });
      await drawing.getByText('one', { exact: true }).waitFor();
      await write('nodes:\n  - {id: one, job: load}\n  - {id: two job: load}\n');
      await page.getByText(/A comma is missing/).waitFor();
      await page.getByRole('button', { name: 'Line 3' }).waitFor();
      await drawing.getByText('one', { exact: true }).waitFor();
      assert.deepEqual(await look(page, 'the text that cannot be read'), []);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 360, `${wide} px`);
    });
  });

  test('keys of the console are not taken while somebody types, and Tab leaves the editor after Escape', async () => {
    await at('/jobs/sales/edit', {}, async (page) => {
      const { text, write } = await editorOf(page, 'Nodes (YAML)');
      await write('nodes:\n');
      await page.keyboard.type('# go? n/gr', { delay: 20 });
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      await page.keyboard.type('x');
      assert.equal(await text(), 'nodes:\n# go? n/gr\n  x');
      assert.match(page.url(), /edit$/);
      assert.equal(await page.getByRole('dialog').count(), 0);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Tab');
      assert.notEqual(await focused(page), 'Nodes (YAML)');
      await page.keyboard.press('Shift+Tab');
      assert.equal(await focused(page), 'Nodes (YAML)');
      await page.keyboard.press('Shift+Tab');
      assert.notEqual(await focused(page), 'Nodes (YAML)', 'somebody who goes through the page is not caught');
    });
  });

  test('the search is in the language of the page', async () => {
    await at('/jobs/sales/edit', { locale: 'zh-CN' }, async (page) => {
      const { field } = await editorOf(page, '节点（YAML）');
      await field.click();
      await page.keyboard.press('Control+f');
      await page.getByRole('textbox', { name: '查找' }).fill('audit');
      await page.getByRole('button', { name: '下一个' }).click();
      assert.ok(await page.locator('.cm-searchMatch').count() > 1);
      assert.deepEqual(await look(page, 'the search'), []);
      const said = await page.locator('.cm-search').evaluate((one) => one.innerText + [...one.querySelectorAll('[aria-label], [placeholder]')].map((each) => each.ariaLabel + each.placeholder).join());
      assert.doesNotMatch(said.replaceAll(/null|undefined/g, ''), /[A-Za-z]{2,}/);
    });
  });

  test('a workflow is saved without the fields that it does not have', async () => {
    await at('/jobs/new', {}, async (page) => {
      await page.getByLabel('Name', { exact: true }).fill('Empty');
      await page.getByLabel('Job ID').fill('empty');
      await page.getByLabel('Retries', { exact: true }).fill('3');
      await page.getByLabel('Type').selectOption('workflow');
      await page.getByLabel('Trigger', { exact: true }).selectOption('manual');
      const { write } = await editorOf(page, 'Nodes (YAML)');
      for (const name of ['Retries', 'Environment', 'Executor', 'Routing', 'Concurrency group', 'Kill grace period (seconds)'])
        assert.equal(await page.getByLabel(name, { exact: true }).count(), 0, name);
      await write('nodes: [{id: a, job: load}]');
      await page.getByRole('button', { name: 'Create job' }).click();
      await heading(page, /Empty/);
    });
    assert.equal((await server.api('GET', 'jobs/empty')).retry_count, 0);
  });
});

describe('the YAML of a job', () => {
  test('a mistake that the server finds leads to its line', async () => {
    await at('/jobs/load/edit', { asked: ['/api/jobs/load'] }, async (page) => {
      await page.getByRole('button', { name: 'YAML' }).click();
      const { text, write } = await editorOf(page, 'YAML');
      await write((await text()).replace(/^timeout: \d+/m, 'timeout: 0'));
      await page.getByRole('button', { name: 'Save' }).click();
      const problems = page.getByRole('list', { name: 'Problems in the text' });
      await problems.getByText('/timeout').waitFor();
      assert.deepEqual(await look(page, 'the YAML with a mistake'), []);
      await problems.getByRole('button', { name: /Line/ }).click();
      assert.equal(await page.locator('.cm-activeLine').innerText(), 'timeout: 0');
    });
  });
});

describe('workflows elsewhere', () => {
  test('versions of a workflow differ by line, and the nodes are named', async () => {
    for (const options of [{}, { width: 360, theme: 'dark' }]) {
      await at('/jobs/sales?tab=versions&version=2&against=1', options, async (page) => {
        await page.getByText('Nodes added: check').first().waitFor();
        const lines = page.getByRole('region', { name: /Lines of workflow/ });
        const kinds = await lines.locator('tr[data-kind]').evaluateAll((all) => all.map((one) => one.dataset.kind));
        assert.ok(kinds.includes('same') && kinds.includes('added') && kinds.includes('removed'), kinds.join());
        assert.match(await lines.innerText(), /equal lines/);
        assert.match(await lines.locator('[data-kind=added]').first().innerText(), /check/);
        assert.match(await page.locator('tr', { hasText: 'priority' }).first().innerText(), /0\s+7/);
        assert.deepEqual(await look(page, 'the lines'), []);
      });
    }
  });

  test('the list of workflows shows the newest run, and a job the workflows that use it', async () => {
    const { run_id: run } = await server.api('POST', 'jobs/sales/execute', {});
    await until(async () => (await server.api('GET', 'runs/' + run)).state === 'COMPLETED', 'the run');
    await at('/workflows', {}, async (page) => {
      const row = page.locator('[data-row=sales]');
      await row.locator('[data-column=newest] [data-state=COMPLETED]').waitFor();
      assert.equal(await page.locator('[data-row=load]').count(), 0);
      assert.deepEqual(await look(page, 'the workflows'), []);
      await row.locator('[data-column=newest] a').click();
      await page.waitForURL('**/runs/' + run);
    });
    await at('/jobs/audit', {}, async (page) => {
      const list = page.getByRole('list', { name: 'Used by workflows' });
      await list.getByText('node audit').waitFor();
      await page.getByRole('button', { name: 'Dependencies' }).click();
      await page.getByText('No job starts after this job.').waitFor();
      assert.deepEqual(await look(page, 'the dependencies'), []);
      await page.getByRole('list', { name: 'Used by workflows' }).getByRole('link', { name: 'Sales' }).click();
      await page.getByRole('region', { name: /Graph of the workflow/ }).waitFor();
    });
  });
});

// A workflow: made in the form, seen as a graph, run, skipped and retried, in a real browser against a real server.
import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { editorOf, heading, look, until, withServer } from '../support/server.mjs';

const flag = join(tmpdir(), `carillon-workflow-${process.pid}`);
after(() => rmSync(flag, { force: true }));
const { server, person } = withServer(async () => {
  await server.api('POST', 'jobs', { job_id: 'load', name: 'Load orders', command: 'true' });
  await server.api('POST', 'jobs', { job_id: 'audit', name: 'Audit orders', command: `test -e ${flag} || exit 3` });
  await server.api('POST', 'jobs', { job_id: 'slow', name: 'Slow', command: `while ! test -e ${flag}; do sleep 0.1; done` });
  await server.api('POST', 'jobs', { job_id: 'publish', name: 'Publish', command: 'true' });
});
const state = async (run) => (await server.api('GET', 'runs/' + run)).state;
const NODES = `nodes:
  - {id: load, job: load}
  - {id: audit, job: audit, after: [load]}
  - {id: publish, job: publish, after: [audt]}
`;

describe('a workflow', () => {
  test('the form creates a workflow and shows its graph and its mistakes', async () => {
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs/new');
      await page.getByLabel('Name', { exact: true }).fill('Sales');
      await page.getByLabel('Job ID').fill('sales');
      await page.getByLabel('Type').selectOption('workflow');
      await page.getByLabel('Trigger', { exact: true }).selectOption('manual');
      const { write } = await editorOf(page, 'Nodes (YAML)');
      await write(NODES);
      await page.getByText('no node').first().waitFor();
      assert.deepEqual(await look(page, 'the form with a mistake'), []);
      await write(NODES.replace('audt', 'audit'));
      await page.getByText('No problems found.').waitFor();
      await page.getByRole('button', { name: 'Create job' }).click();
      await heading(page, /Sales/);
      await page.getByRole('button', { name: 'Graph', exact: true }).click();
      const drawing = page.getByRole('region', { name: /Graph of the workflow/ });
      await drawing.getByRole('link', { name: 'audit' }).waitFor();
      assert.deepEqual(await look(page, 'the graph'), []);
      await page.goto(server.url + '/workflows');
      await page.getByRole('link', { name: 'Sales', exact: true }).waitFor();
    });
    const { workflow, timeout } = await server.api('GET', 'jobs/sales');
    assert.deepEqual(workflow.nodes.map((node) => node.id), ['load', 'audit', 'publish']);
    assert.equal(timeout, 86_400);
  });

  test('a failed workflow is retried after a preview, and runs of nodes link to it', async () => {
    const { run_id: run } = await server.api('POST', 'jobs/sales/execute', {});
    await until(async () => (await state(run)) === 'FAILED', 'the failure');
    await person({}, async (page) => {
      await page.goto(server.url + '/runs/' + run);
      const table = page.getByRole('region', { name: 'Nodes', exact: true });
      await table.getByText('Exit code 3').waitFor();
      await table.getByText('A node before it failed').waitFor();
      assert.deepEqual(await look(page, 'the failed run'), []);
      writeFileSync(flag, '');
      await page.getByRole('button', { name: 'Retry nodes…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Retry nodes' });
      await dialog.getByText('These nodes run again: audit, publish.').waitFor();
      assert.deepEqual(await look(page, 'the retry'), []);
      await dialog.getByRole('button', { name: 'Retry', exact: true }).click();
      await until(async () => (await state(run)) === 'COMPLETED', 'the retry');
      const drawing = page.getByRole('region', { name: /Graph of the workflow/ });
      await drawing.getByRole('link', { name: 'publish, Completed' }).waitFor();
      await table.getByRole('link', { name: 'audit', exact: true }).click();
      await page.getByRole('link', { name: 'Node audit of Sales' }).click();
      await table.waitFor();
      assert.match(page.url(), new RegExp(run + '$'));
    });
  });

  // A graph that is larger than its window, and in which most lines are on a failure.
  test('a large graph is zoomed, moved, walked through by keyboard and shown as a whole', async () => {
    const first = Array.from({ length: 12 }, (_, i) => ({ id: 'extract-' + i, job: 'load' }));
    const later = Array.from({ length: 8 }, (_, i) => ({ id: 'step-' + i, job: 'load', after: i ? ['step-' + (i - 1)] : first.map(({ id }) => id) }));
    const alarm = { id: 'alarm', job: 'load', after: [...first, ...later].map(({ id }) => ({ node: id, on: 'failure' })) };
    await server.api('POST', 'jobs', { job_id: 'etl', name: 'Etl', type: 'workflow', workflow: { nodes: [...first, ...later, alarm] } });
    await person({}, async (page) => {
      await page.goto(server.url + '/jobs/etl?tab=graph');
      const drawing = page.getByRole('region', { name: /Graph of the workflow/ });
      const link = (name) => drawing.getByRole('link', { name, exact: true });
      const zoom = () => page.locator('.react-flow__viewport').evaluate((one) => new DOMMatrix(getComputedStyle(one).transform).a);
      const inSight = async (name) => {
        const [frame, box] = await Promise.all([drawing.locator('.react-flow').boundingBox(), link(name).boundingBox()]);
        return box.x >= frame.x && box.x + box.width <= frame.x + frame.width && box.y >= frame.y && box.y + box.height <= frame.y + frame.height;
      };
      await link('extract-0').waitFor();
      assert.equal(await zoom(), 0.6, 'the least zoom at which a graph opens');
      assert.equal(await inSight('step-7'), false);
      await drawing.getByRole('img', { name: 'Small map of the graph' }).waitFor();
      assert.deepEqual(await look(page, 'the large graph'), []);

      // Without a press into the graph the wheel scrolls the page.
      await drawing.locator('.react-flow').hover();
      await page.mouse.wheel(0, 100);
      await until(() => page.evaluate(() => scrollY > 0), 'the page to scroll');
      assert.equal(await zoom(), 0.6);
      await page.keyboard.down('Control');
      await page.mouse.wheel(0, -100);
      await page.keyboard.up('Control');
      await until(async () => (await zoom()) > 0.6, 'the zoom');

      await link('extract-0').focus();
      for (let i = 0; i < 8; i += 1) await page.keyboard.press('ArrowRight');
      await until(() => link('step-7').evaluate((one) => one === document.activeElement), 'the last step');
      await until(() => inSight('step-7'), 'the last step in sight');
      const lines = () => drawing.locator('[data-line$=" alarm"]').count();
      await drawing.getByRole('button', { name: 'Show the whole graph' }).focus();
      assert.equal(await lines(), 0);
      await page.keyboard.press('Enter');
      await until(async () => (await inSight('extract-0')) && (await inSight('alarm')), 'the whole graph');
      await drawing.getByRole('checkbox', { name: /All lines on failure/ }).check();
      assert.equal(await lines(), 20);
      await link('step-3').click();
      await heading(page, /Load orders/);
    });
  });

  test('a workflow continues when a waiting node is skipped, on a phone, in Chinese', async () => {
    rmSync(flag, { force: true });
    const nodes = [{ id: 'first', job: 'slow' }, { id: 'second', job: 'audit', after: ['first'] }, { id: 'third', job: 'publish', after: ['second'] }];
    await server.api('POST', 'jobs', { job_id: 'gate', name: 'Gate', type: 'workflow', workflow: { nodes } });
    const { run_id: run } = await server.api('POST', 'jobs/gate/execute', {});
    await person({ locale: 'zh-CN', width: 360, theme: 'dark' }, async (page) => {
      await page.goto(server.url + '/runs/' + run);
      await page.getByRole('button', { name: '跳过节点 second' }).click();
      await page.getByRole('dialog').getByRole('button', { name: '跳过', exact: true }).click();
      await page.getByText('由用户跳过').waitFor();
      assert.deepEqual(await look(page, 'the skipped node'), []);
    });
    assert.ok(!existsSync(flag));
    writeFileSync(flag, '');
    await until(async () => (await state(run)) === 'COMPLETED', 'the end');
  });
});

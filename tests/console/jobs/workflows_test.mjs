// A workflow: made in the form, seen as a graph, run, skipped and retried, in a real browser against a real server.
import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { heading, look, until, withServer } from '../support/server.mjs';

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
      const field = page.getByLabel('Nodes (YAML)');
      await field.fill(NODES);
      await page.getByText('no node').first().waitFor();
      assert.deepEqual(await look(page, 'the form with a mistake'), []);
      await field.fill(NODES.replace('audt', 'audit'));
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
      await page.getByRole('link', { name: 'Workflow run, node audit' }).click();
      await table.waitFor();
      assert.match(page.url(), new RegExp(run + '$'));
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

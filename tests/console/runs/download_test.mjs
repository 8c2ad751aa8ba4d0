// Download of a log: the file is equal to the output of the command, byte for byte.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { until, withServer } from '../support/server.mjs';

const LINES = 100_000;
const WRITE = `awk 'BEGIN { for (i = 1; i <= ${LINES}; ++i) printf "\\033[3%dm%d\\033[0m <b id=injected>&amp; %d</b>\\n", i % 8, i, i * 7 }'`;

const { server, person } = withServer();

function written() {
  const hash = createHash('sha256');
  for (let i = 1; i <= LINES; ++i) hash.update(`\x1b[3${i % 8}m${i}\x1b[0m <b id=injected>&amp; ${i * 7}</b>\n`);
  return hash.digest('hex');
}

test('a download contains a hundred thousand lines byte by byte', async () => {
  await server.api('POST', 'jobs', { job_id: 'writes', name: 'Writes', command: WRITE });
  const { run_id } = await server.api('POST', 'jobs/writes/execute', {});
  await until(async () => (await server.api('GET', 'runs/' + run_id)).state === 'COMPLETED', 'the run');
  // The last lines may still be on their way when the run has ended.
  const ask = () => fetch(`${server.url}/api/runs/${run_id}/logs?tail=1`, { headers: { Authorization: 'Bearer ' + server.token } });
  await until(async () => (await ask()).headers.get('x-log-complete') === 'true', 'the whole log');
  await person({}, async (page) => {
    await page.goto(server.url + '/runs/' + run_id);
    const button = page.getByRole('button', { name: 'Download' });
    await button.waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
    const bytes = await readFile(await download.path());
    assert.equal(bytes.toString('latin1').split('\n').length - 1, LINES);
    assert.equal(createHash('sha256').update(bytes).digest('hex'), written());
    assert.equal(await page.locator('#injected').count(), 0);
  });
});

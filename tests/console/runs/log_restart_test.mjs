// The server stops in the middle of a log and starts again. The run continues meanwhile, and then its page does too.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readLog, until, withServer } from '../support/server.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'carillon-log-'));
after(() => rmSync(scratch, { recursive: true, force: true }));
const { server, person } = withServer();

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
const atEnd = (log) => log.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 40);
const shown = async (page) => Number(await page.locator('[data-line]').last().getAttribute('data-line')) + 1;

// Starts a run that prints numbered lines until it is told to end. It also writes them to a file.
async function writer(id) {
  const [kept, enough] = [join(scratch, id), join(scratch, id + '.enough')];
  await server.api('POST', 'jobs', {
    job_id: id, name: id,
    command: `i=0; while [ ! -e ${enough} ]; do i=$((i + 1)); echo "line $i"; sleep 0.05; done | tee ${kept}`,
  });
  const { run_id: run } = await server.api('POST', `jobs/${id}/execute`, {});
  return {
    run,
    written: () => (existsSync(kept) ? readFileSync(kept) : Buffer.alloc(0)),
    lines() { return this.written().toString().split('\n').length - 1; },
    end: () => writeFileSync(enough, ''),
  };
}

for (const signal of ['SIGTERM', 'SIGKILL']) {
  test(`a followed log loses and repeats no line over a server restart: ${signal}`, { timeout: 600_000 }, async () => {
    const job = await writer(signal.toLowerCase());
    try {
      await person({ asked: [server.url] }, async (page) => {
        await page.goto(`${server.url}/runs/${job.run}`);
        const log = page.getByRole('log');
        await log.getByText(/^line \d+$/).first().waitFor();
        await until(async () => (await shown(page)) >= 60, 'lines that fill the page');
        await page.evaluate(() => { globalThis.notReloaded = true; });
        const opened = [];
        page.on('request', (request) => request.url().includes('/logs/stream') && opened.push(Number(request.headers()['last-event-id'] ?? 0)));

        let away;
        await server.restart(signal, async () => {
          away = job.lines();
          await until(() => job.lines() >= away + 20, 'lines while no server is there');
        });
        const back = job.lines();
        await until(async () => (await shown(page)) > back, 'lines from after the return');
        assert.ok(opened.length > 0 && opened.every((last) => last > 0), `asked for from where it was: ${opened}`);
        assert.ok(await page.locator('h1 [data-state=RUNNING]').isVisible());
        assert.equal(await page.getByRole('button', { name: 'Follow' }).getAttribute('aria-pressed'), 'true');
        await until(() => atEnd(log), 'the log to be followed');

        job.end();
        await page.locator('h1 [data-state=COMPLETED]').waitFor();
        await until(() => page.getByText(`The log is complete: ${job.lines()} lines.`).isVisible(), 'all lines');
        assert.deepEqual(await readLog(page), Array.from({ length: job.lines() }, (_, i) => `line ${i + 1}`));
        assert.equal(await page.evaluate(() => globalThis.notReloaded), true);

        const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()]);
        assert.equal(sha256(await readFile(await download.path())), sha256(job.written()));
      });
      const run = await server.api('GET', 'runs/' + job.run);
      assert.deepEqual([run.state, run.attempt], ['COMPLETED', 1], 'it outlived the server');
    } finally {
      job.end();
    }
  });
}

// Logs with very many lines: only few lines are in the document, and they need little memory.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { framesOf, heapOf, median, percentile, watchFrames } from '../support/measure.mjs';
import { LONG, until, withServer } from '../support/server.mjs';

const LINES = LONG ? 100_000 : 20_000;
const ROWS_MAX = 150;
const FRAMES_MIN = LONG ? 200 : 40;
const FRAME_MS = 100; // asserted only in the long form, where no other test runs at the same time
const HEAP_BYTES = 120_000_000;
const WHEEL_PX = 6000; // for each turn of the wheel; a line is 18 px high

const { server, person } = withServer();

// A command that prints lines as a program logs them. It executes `between` after each part of them.
const linesCommand = (between = '') => `awk 'BEGIN { for (i = 1; i <= ${LINES}; i++) {
  printf "2026-11-22 10:00:00.%03d INFO  shop.import row %d of ${LINES} written\\n", i % 1000, i
  if (i % 2500 == 0) { fflush(); ${between} }
} }'`;
const start = async (id, command) => {
  await server.api('POST', 'jobs', { job_id: id, name: id, command });
  return (await server.api('POST', `jobs/${id}/execute`, {})).run_id;
};
const whole = (page) => page.getByText(`The log is complete: ${LINES} lines.`).waitFor();

test('a long log scrolls to every line with few rows and little memory', async (t) => {
  const run = await start('long', linesCommand());
  await person({}, async (page) => {
    await page.goto(`${server.url}/runs/${run}`);
    await whole(page);
    const log = page.getByRole('log');
    const lineAt = (n) => page.locator(`[data-line="${n - 1}"]`);
    await log.press('End');
    await lineAt(LINES).waitFor();
    await log.hover();
    await watchFrames(page);
    for (const [by, last] of [[-WHEEL_PX, 1], [WHEEL_PX, LINES]]) {
      await until(async () => {
        for (let i = 0; i < 20; i += 1) await page.mouse.wheel(0, by);
        return (await lineAt(last).count()) === 1;
      }, `line ${last}`);
    }
    const { ms, rows } = await framesOf(page);
    const heap = await heapOf(page);
    t.diagnostic(`${ms.length} frames: median ${median(ms).toFixed(1)} ms, p95 ${percentile(ms, 95).toFixed(1)} ms, longest ${Math.max(...ms).toFixed(0)} ms; at most ${rows} rows; ${(heap / 1e6).toFixed(1)} MB of scripts`);
    assert.ok(ms.length > FRAMES_MIN, `${ms.length} frames`);
    assert.ok(rows > 20 && rows <= ROWS_MAX, `${rows} rows`);
    if (LONG) assert.ok(percentile(ms, 95) <= FRAME_MS, `p95 of a frame is ${percentile(ms, 95)} ms`);
    assert.ok(heap <= HEAP_BYTES, `${heap} bytes`);
  });
});

test('a followed log keeps few rows and little memory', async (t) => {
  const scratch = mkdtempSync(join(tmpdir(), 'carillon-flood-'));
  t.after(() => rmSync(scratch, { recursive: true }));
  const gate = join(scratch, 'gate');
  const run = await start('flood', linesCommand(`system("sleep 0.2; while [ ! -e ${gate} ]; do sleep 0.1; done")`));
  await person({}, async (page) => {
    await page.goto(`${server.url}/runs/${run}`);
    await page.locator('[data-line]').first().waitFor();
    await watchFrames(page);
    writeFileSync(gate, ''); // the rest of the flood comes while frames are watched
    await whole(page);
    await page.locator(`[data-line="${LINES - 1}"]`).waitFor();
    const { ms, rows } = await framesOf(page);
    const heap = await heapOf(page);
    t.diagnostic(`${ms.length} frames: median ${median(ms).toFixed(1)} ms, p95 ${percentile(ms, 95).toFixed(1)} ms; at most ${rows} rows; ${(heap / 1e6).toFixed(1)} MB of scripts`);
    assert.ok(rows > 20 && rows <= ROWS_MAX, `${rows} rows`);
    if (LONG) assert.ok(percentile(ms, 95) <= FRAME_MS, `p95 of a frame is ${percentile(ms, 95)} ms`);
    assert.ok(heap <= HEAP_BYTES, `${heap} bytes`);
  });
});

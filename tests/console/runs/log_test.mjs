// The log of a run in the console: while it is written, when it is long, and when the connection breaks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { look, readLog, startProxy, until, withServer } from '../support/server.mjs';

const { server, person } = withServer();

async function start(id, command) {
  await server.api('POST', 'jobs', { job_id: id, name: id, command });
  return (await server.api('POST', `jobs/${id}/execute`, {})).run_id;
}
const atEnd = (log) => log.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 40);
const line = (page, text) => page.locator('[data-stream]', { hasText: text }).filter({ hasText: new RegExp(`^${text}$`) });
const linesOf = async (page) => Number((await page.getByText(/(Following the log|The log is complete): \d+ lines/).textContent()).match(/\d+/)[0]);
const shown = (page) => page.locator('[data-line]').evaluateAll((rows) => rows.map((row) => row.textContent));

test('the log follows a run until somebody scrolls up, and again on request', async () => {
  const run = await start('talks', 'for i in $(seq 1 200); do echo line $i; done; echo oops >&2; for i in $(seq 1 600); do echo more $i; sleep 0.05; done');
  await person({}, async (page) => {
    await page.goto(`${server.url}/runs/${run}`);
    const log = page.getByRole('log');
    await log.getByText(/^more \d+$/).last().waitFor();
    assert.ok(await page.locator('h1 [data-state=RUNNING]').isVisible());
    await until(() => atEnd(log), 'the log to be followed');
    await log.hover();
    await page.mouse.wheel(0, -1500);
    await until(async () => !(await atEnd(log)), 'the log to be scrolled up');
    const follow = page.getByRole('button', { name: 'Follow' });
    await until(async () => (await follow.getAttribute('aria-pressed')) === 'false', 'following to end');
    const first = await page.locator('[data-line]').first().getAttribute('data-line');
    const top = await log.evaluate((box) => box.scrollTop);
    const before = await linesOf(page);
    await until(async () => (await linesOf(page)) > before + 5, 'more lines');
    assert.equal(await log.evaluate((box) => box.scrollTop), top, 'nothing moved');
    assert.equal(await page.locator('[data-line]').first().getAttribute('data-line'), first);
    await follow.click();
    await until(() => atEnd(log), 'the end of the log');
    await server.api('POST', `runs/${run}/cancel`, {});
    await page.locator('h1 [data-state=CANCELLED]').waitFor();
    await page.getByText(/The log is complete: \d+ lines/).waitFor();
    assert.equal(await follow.count(), 0);
  });
});

test('the log stands still while updates are paused and then resumes', async () => {
  const run = await start('chatters', 'for i in $(seq 1 2000); do echo word $i; sleep 0.05; done');
  await person({}, async (page) => {
    await page.goto(`${server.url}/runs/${run}`);
    await page.getByRole('log').getByText(/^word \d+$/).first().waitFor();
    const streams = [];
    page.on('request', (request) => request.url().includes('/logs/stream') && streams.push(request));
    await page.getByRole('button', { name: 'Pause updates' }).click();
    await page.getByText('Updates are paused. New lines are not shown.').waitFor();
    const last = () => page.locator('[data-line]').last().getAttribute('data-line');
    const before = await last();
    // The log of the run still grows.
    const log = async () => (await (await fetch(`${server.url}/api/runs/${run}/logs`, { headers: { Authorization: 'Bearer ' + server.token, Accept: 'text/plain' } })).text()).split('\n').length;
    const written = await log();
    await until(async () => (await log()) > written + 20, 'more of the log');
    assert.deepEqual([await last(), streams.length], [before, 0]);
    await page.getByRole('log').locator('xpath=..').getByRole('button', { name: 'Resume updates' }).click();
    await until(async () => Number(await last()) > Number(before) + 20, 'the log to go on');
    assert.equal(streams.length, 1);
    assert.ok(streams[0].headers()['last-event-id'] > 0);
    await server.api('POST', `runs/${run}/cancel`, {});
  });
});

test('a log of a hundred thousand lines is searched and linked with few rows', async () => {
  const run = await start('long', 'seq 1 100000; printf "<img src=x onerror=alert(1)> \\033[31mred\\n"; echo still');
  await person({}, async (page) => {
    // Counts the painted frames, and those in which the visible part of the log has no line.
    await page.addInitScript(() => {
      window.frames_seen = { all: 0, empty: 0 };
      const see = () => {
        const box = document.querySelector('[role=log]');
        if (box?.clientHeight > 0) {
          const { top, bottom } = box.getBoundingClientRect();
          const drawn = [...box.querySelectorAll('[data-line]')].some((row) => {
            const at = row.getBoundingClientRect();
            return at.bottom > top && at.top < bottom;
          });
          window.frames_seen.all += 1;
          if (!drawn) window.frames_seen.empty += 1;
        }
        requestAnimationFrame(see);
      };
      requestAnimationFrame(see);
    });
    await page.goto(`${server.url}/runs/${run}`);
    await page.getByText('The log is complete: 100002 lines.').waitFor();
    const frames = await page.evaluate(() => window.frames_seen);
    assert.ok(frames.all > 0);
    assert.equal(frames.empty, 0, `${frames.empty} of ${frames.all} frames`);
    const log = page.getByRole('log');
    await log.getByText('<img src=x onerror=alert(1)>').waitFor();
    assert.equal(await page.locator('[role=log] img').count(), 0);
    assert.equal(await log.getByText('still', { exact: true }).getAttribute('class'), 'ansi-1', 'a colour goes on');
    assert.ok((await page.locator('[data-line]').count()) <= 150);
    await page.getByLabel('Search the output').fill('77777');
    await page.getByText('1 of 1').waitFor();
    await line(page, '77777').waitFor();
    assert.ok((await page.locator('[data-line]').count()) <= 150);
    await page.getByRole('button', { name: 'Link to line 77777' }).click();
    assert.match(page.url(), /#L77777$/);
    await page.getByLabel('Search the output').fill('');
    await page.reload();
    await page.getByText('The log is complete: 100002 lines.').waitFor();
    await line(page, '77777').waitFor();
    await log.press('End');
    await log.getByText('still', { exact: true }).waitFor();
    await log.press('Home');
    await line(page, '1').waitFor();
  });
});

test('the log shows both streams with times, and fills the screen on request', async () => {
  const run = await start('both', 'echo out; echo err >&2');
  await person({}, async (page) => {
    await page.goto(`${server.url}/runs/${run}`);
    await page.getByText('The log is complete: 2 lines.').waitFor();
    assert.equal(await page.locator('[data-stream=stderr]').textContent(), 'err');
    await page.getByRole('button', { name: 'Times' }).click();
    assert.match((await shown(page))[0], /^1\d\d:\d\d:\d\d\.\d{3}out$/);
    await page.getByRole('log').press('f');
    const height = await page.getByRole('log').evaluate((box) => box.clientHeight);
    assert.ok(height > 700, `${height} px`);
    await page.getByRole('log').press('f');
  });
});

test('a run without output says so', async () => {
  const run = await start('silent', 'true');
  await person({}, async (page) => {
    await page.goto(`${server.url}/runs/${run}`);
    await page.getByText('No output.').waitFor();
  });
});

test('the log loses and repeats no line over broken connections', async () => {
  const proxy = await startProxy(server.url, '/ops');
  try {
    const run = await start('cut', 'for i in $(seq 1 160); do echo line $i; sleep 0.05; done');
    await person({ asked: [proxy.url] }, async (page) => {
      await page.goto(`${proxy.url}/runs/${run}`);
      for (const lines of [5, 40, 90]) {
        await until(async () => (await linesOf(page)) >= lines, `${lines} lines`);
        proxy.cut();
      }
      await page.getByText('The log is complete: 160 lines.').waitFor();
      assert.deepEqual(await readLog(page), Array.from({ length: 160 }, (_, i) => `line ${i + 1}`));
    });
  } finally {
    proxy.stop();
  }
});

const LEVELLED = `echo "starting"; echo "2026-11-22 10:00:00 INFO  ready"; echo "  with two workers"
  echo "ERROR no price"; echo "    at shop.py:3"; echo '{"level":"warn","msg":"low disk"}' >&2; echo "DEBUG done"`;
const numbers = (page) => page.locator('[data-line]').evaluateAll((rows) => rows.map((row) => Number(row.dataset.line) + 1));

test('the level filter keeps line numbers and is part of the address', async () => {
  const run = await start('levels', LEVELLED);
  for (const theme of ['light', 'dark']) {
    await person({ theme }, async (page) => {
      await page.goto(`${server.url}/runs/${run}`);
      await page.getByText('The log is complete: 7 lines.').waitFor();
      const texts = async () => (await shown(page)).map((text) => text.replace(/^\d+/, ''));
      const all = await texts();
      const filter = page.getByLabel('Level', { exact: true });
      assert.deepEqual(await filter.locator('option').allTextContents(),
        ['All levels', 'Errors (2)', 'Warnings and above (3)', 'Info and above (5)', 'Debug and above (6)']);
      assert.match(await filter.getAttribute('title'), /7 lines received so far/);
      await filter.selectOption('WARN');
      await page.getByText('3 of the 7 lines received so far').waitFor();
      assert.deepEqual((await texts()).toSorted(), ['    at shop.py:3', 'ERROR no price', '{"level":"warn","msg":"low disk"}']);
      for (const [i, n] of (await numbers(page)).entries()) assert.equal((await texts())[i], all[n - 1]);
      assert.deepEqual(await look(page, 'filtered'), []);
      await page.reload();
      await page.getByText('3 of the 7 lines received so far').waitFor();
      assert.match(page.url(), /level=WARN/);
      await page.getByLabel('Search the output').fill('low disk');
      await page.getByText('1 of 1').waitFor();
      await filter.selectOption('ERROR');
      await page.getByText('0 of 0').waitFor();
      await page.getByLabel('Search the output').fill('');
      const [n] = await numbers(page);
      await page.getByRole('button', { name: `Link to line ${n}`, exact: true }).click();
      assert.match(page.url(), new RegExp(`level=ERROR.*#L${n}$`));
      await filter.selectOption('');
      await until(async () => (await numbers(page)).length === 7, 'all lines');
      assert.doesNotMatch(page.url(), /level=/);
    });
  }
});

test('the level filter applies to new lines, and is absent without levels', async () => {
  const slow = await start('leveltalk', 'for i in $(seq 1 400); do echo "INFO $i"; [ $((i % 20)) = 0 ] && echo "ERROR $i"; sleep 0.05; done');
  const plain = await start('unlevelled', 'seq 1 5');
  await person({ width: 360, locale: 'zh-CN' }, async (page) => {
    await page.goto(`${server.url}/runs/${slow}?level=ERROR`);
    await line(page, 'ERROR 20').waitFor();
    await line(page, 'ERROR 40').waitFor();
    assert.ok((await shown(page)).every((text) => text.includes('ERROR')));
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wide <= 0, `${wide} px too wide`);
    await server.api('POST', `runs/${slow}/cancel`, {});
    await page.locator('h1 [data-state=CANCELLED]').waitFor();
    await page.goto(`${server.url}/runs/${plain}`);
    await line(page, '5').waitFor();
    assert.equal(await page.getByLabel('级别', { exact: true }).count(), 0);
  });
});

test('addresses in a log become safe links, and the search finds their lines', async () => {
  const lines = ['see http://a.example/b?c=<script>, or', 'https://b.example/1', 'https://b.example/2', '\\033[31mred https://c.example/ red\\033[0m', 'javascript:alert(1)', '<a href="http://d.example/" onclick=alert(1)>'];
  const run = await start('links', lines.map((text) => `printf '${text}\\n'`).join('; '));
  for (const theme of ['light', 'dark']) {
    await person({ theme }, async (page) => {
      await page.goto(`${server.url}/runs/${run}`);
      await page.getByText(`The log is complete: ${lines.length} lines.`).waitFor();
      const links = page.getByRole('log').locator('a');
      assert.deepEqual(await links.evaluateAll((all) => all.map((one) => [one.getAttribute('href'), one.target, one.rel])),
        ['http://a.example/b?c=', 'https://b.example/1', 'https://b.example/2', 'https://c.example/', 'http://d.example/'].map((href) => [href, '_blank', 'noopener noreferrer']));
      assert.equal(await page.locator('[role=log] script, [role=log] [onclick]').count(), 0);
      assert.equal(await page.locator('[data-stream]').last().textContent(), lines.at(-1));
      // Links are as high as a line of text. WCAG 2.5.8 allows that for links within text, but axe cannot detect it.
      assert.deepEqual((await look(page, 'links')).filter((one) => !one.startsWith('links: target-size: <a ')), []);
      await page.getByLabel('Search the output').fill('b.example/2');
      await page.getByText('1 of 1').waitFor();
      await page.locator('[data-line="2"].bg-accent-soft').getByText('https://b.example/2').waitFor();
    });
  }
});

test('the log copies a line or all shown lines without colours, by button and key', async () => {
  const run = await start('copied', "printf '\\033[31mERROR one\\033[0m\\nINFO two\\n\\tthree\\n'");
  await person({}, async (page) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    const copied = (text) => until(async () => (await clipboard()) === text, JSON.stringify(text));
    await page.goto(`${server.url}/runs/${run}`);
    await page.getByText('The log is complete: 3 lines.').waitFor();
    await page.getByRole('button', { name: 'Copy the lines shown' }).click();
    await copied('ERROR one\nINFO two\n\tthree\n');
    await page.locator('[data-line="1"]').hover();
    await page.getByRole('button', { name: 'Copy line 2' }).click();
    await copied('INFO two');
    await page.getByRole('button', { name: 'Link to line 1', exact: true }).click();
    await page.getByRole('log').press('c');
    await copied('ERROR one');
    await page.getByLabel('Level', { exact: true }).selectOption('ERROR');
    await page.getByText('1 of the 3 lines received so far').waitFor();
    await page.getByRole('button', { name: 'Copy the lines shown' }).click();
    await copied('ERROR one');
  });
});

test('the log shows the last state of overwritten lines, and the earlier states on request', async () => {
  const script = [
    "printf 'get 10%%\\rget 20%%\\rget 100%%\\n'",
    "printf '\\033]8;;https://a.example/\\033\\\\link\\033]8;;\\033\\\\ \\033[1mbold\\033(B\\033[m\\n'",
    "printf 'a: wait\\nb: wait\\n\\033[2A\\033[2K\\ra: done\\r\\033[2B'",
    "printf 'left'",
    "printf 'Password: ' >&2",
  ];
  const run = await start('overwrites', script.join('; '));
  for (const theme of ['light', 'dark']) {
    await person({ theme }, async (page) => {
      await page.goto(`${server.url}/runs/${run}`);
      await page.getByText('The log is complete: 6 lines.').waitFor();
      const row = (n) => page.locator(`[data-line="${n - 1}"] [data-stream]`);
      const texts = await page.locator('[data-stream]').allTextContents();
      assert.deepEqual(texts.toSorted(), ['Password: ', 'a: done1 earlier state', 'b: wait', 'get 100%2 earlier states', 'left', 'link bold']);
      const below = page.locator('[data-line="1"]');
      const { y: before } = await below.boundingBox();
      await page.getByRole('button', { name: '2 earlier states' }).click();
      assert.equal(await row(1).textContent(), 'get 100%2 earlier statesget 10%get 20%');
      assert.equal((await below.boundingBox()).y - before, 2 * 18, 'the next line is below the states');
      // The button is as high as a line of text, which WCAG 2.5.8 allows.
      assert.deepEqual((await look(page, 'states')).filter((one) => !one.startsWith('states: target-size: <button ')), []);
      await page.getByLabel('Search the output').fill('get 20%');
      await page.getByText('0 of 0').waitFor();
      await page.getByRole('button', { name: '2 earlier states' }).click();
      assert.equal(await row(1).textContent(), 'get 100%2 earlier states');
    });
  }
});

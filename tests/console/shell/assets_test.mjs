// The files of the console: their encoding and caching. Pages must not shift while they load, and must not send
// requests to other hosts.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { makeFleet, openSignedIn, pagesOf } from '../support/fleet.mjs';
import { measureLoad, watchRequests } from '../support/measure.mjs';
import { heading, LONG, startBrowser, startProxy, startServer, withPerson } from '../support/server.mjs';

const SHIFT = 0.05; // the limit of the browser's layout shift score
// The long form loads every page.
const SHORT = ['overview', 'jobs', 'run'];
let server;
let browser;
let fleet;
before(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  fleet = await makeFleet(server, 60); // more than a list shows at once
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test('pages do not shift while they load and ask only their server', async (t) => {
  for (const [name, path] of Object.entries(pagesOf(fleet))) {
    if (!LONG && !SHORT.includes(name)) continue;
    const person = await openSignedIn(browser, server, fleet);
    try {
      const seen = await measureLoad(person.page, server.url + path, 1);
      t.diagnostic(`${name}: shift ${seen.shift.toFixed(3)}`);
      assert.ok(await person.page.getByRole('navigation').first().isVisible(), path + ': signed in');
      assert.equal(await person.page.getByRole('heading', { level: 1 }).count(), 1, path);
      assert.ok(seen.shift <= SHIFT, `${path}: shifts of ${seen.shift.toFixed(3)}:\n${seen.shifts.join('\n')}`);
      assert.deepEqual(seen.asked.filter((url) => new URL(url).origin !== new URL(server.url).origin), [], path + ': asked of others');
    } finally {
      await person.close();
    }
  }
});

// Reads an answer as it is on the network, because `fetch` would decode it.
const open = (url, headers = {}) => new Promise((resolve, reject) => {
  http.get(url, { headers }, (answer) => {
    const pieces = [];
    answer.on('data', (piece) => pieces.push(piece));
    answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(pieces) }));
  }).on('error', reject);
});
const CODINGS = { br: brotliDecompressSync, gzip: gunzipSync };
const ENCODED_FROM = 1024; // bytes; smaller files are not encoded

test('hashed files are cached and encoded, pages are revalidated, also under a path', async (t) => {
  const proxy = await startProxy(server.url, '/ops/carillon');
  try {
    for (const root of [server.url, proxy.url]) {
      const index = await open(root + '/runs');
      assert.equal(index.headers['cache-control'], 'no-cache');
      const base = /<base href="([^"]*)"/.exec(index.bytes)[1];
      assert.equal(base, new URL(root + '/').pathname);
      // The page also fetches the files of its own code, which are loaded only when the page is opened.
      const { asked, sizes } = await assetsOf(root + '/runs');
      assert.ok(asked.length > 20, asked.join('\n'));
      for (const url of asked) {
        assert.ok(url.startsWith(root + '/assets/'), url);
        const plain = await open(url);
        assert.equal(plain.headers['content-encoding'], undefined);
        for (const [coding, decode] of Object.entries(CODINGS)) {
          const answer = await open(url, { 'Accept-Encoding': coding });
          assert.equal(answer.status, 200, url);
          assert.match(answer.headers['cache-control'], /^public, max-age=\d{8}, immutable$/, url);
          assert.equal(answer.headers.vary, 'Accept-Encoding', url);
          const encoded = plain.bytes.length >= ENCODED_FROM;
          assert.equal(answer.headers['content-encoding'], encoded ? coding : undefined, url);
          if (!encoded) continue;
          assert.ok(answer.bytes.length < plain.bytes.length, url);
          assert.ok(decode(answer.bytes).equals(plain.bytes), url);
        }
      }
      t.diagnostic(`${root}: ${asked.length} files, ${Math.round(sizes.sent / 1024)} KiB for ${Math.round(sizes.whole / 1024)}`);
      assert.ok(sizes.sent < sizes.whole / 2, 'the browser got them encoded');
    }
  } finally {
    proxy.stop();
  }
});

// Returns the files with a hash in their name that a page fetches, and the number of bytes of each.
async function assetsOf(url) {
  let found;
  await withPerson(browser, { token: server.token }, async (page) => {
    const { asked, quiet } = watchRequests(page);
    await page.goto(url);
    await heading(page, 'Runs');
    await quiet();
    const sizes = await page.evaluate(() => performance.getEntriesByType('resource').filter((one) => one.name.includes('/assets/'))
      .reduce((sum, one) => ({ sent: sum.sent + one.encodedBodySize, whole: sum.whole + one.decodedBodySize }), { sent: 0, whole: 0 }));
    found = { asked: [...new Set(asked.filter((one) => one.includes('/assets/')))], sizes };
  });
  return found;
}

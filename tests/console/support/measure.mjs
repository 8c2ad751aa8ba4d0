// Measures a page in the browser: paints, shifts, interactions, frames.
import { until } from './server.mjs';

const QUIET_MS = 500;
// The requests that never end: the log of a run that continues, and the stream of changes.
const STREAMS = /\/api\/(changes|runs\/[^/]+\/logs\/stream)/;

export const sorted = (values) => values.toSorted((a, b) => a - b);
// The percentile by nearest rank, which is always one of the values.
export const percentile = (values, p) => sorted(values)[Math.max(0, Math.ceil((values.length * p) / 100) - 1)];
export const median = (values) => percentile(values, 50);

// Runs in the page from its first byte on. `seen` collects what the browser reports.
function observe() {
  const seen = { paint: 0, largest: 0, filled: 0, shift: 0, shifts: [] };
  globalThis.seen = seen;
  const watch = (type, take) => new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  const nameOf = (node) => (node?.nodeType === 1 ? `${node.tagName.toLowerCase()} ${node.textContent.slice(0, 40)}` : String(node?.nodeName));
  watch('paint', (one) => {
    if (one.name === 'first-contentful-paint') seen.paint = one.startTime;
  });
  watch('largest-contentful-paint', (one) => { seen.largest = one.startTime; });
  watch('layout-shift', (one) => {
    if (one.hadRecentInput) return;
    seen.shift += one.value;
    seen.shifts.push(`${one.value.toFixed(3)} at ${Math.round(one.startTime)} ms: ` + one.sources.map((source) =>
      `${nameOf(source.node)} from ${Math.round(source.previousRect.top)} to ${Math.round(source.currentRect.top)}`).join('; '));
  });
  // `seen.filled`: the last time when the page stopped showing a text that it is still loading.
  const says = () => document.querySelector('h1') === null || [...document.querySelectorAll('p[role=status]')].some((one) => one.textContent === 'Loading…');
  let awaited = true;
  new MutationObserver(() => {
    const before = awaited;
    awaited = says();
    if (before && !awaited) requestAnimationFrame((now) => { seen.filled = now; });
  }).observe(document, { childList: true, subtree: true, characterData: true });
}

// Counts the requests of a page. `quiet` resolves when there were no requests for half a second, except streams. A page
// with a slowed thread may need longer between two requests.
export function watchRequests(page, slower = 1) {
  const asked = [];
  const open = new Set();
  let last = Date.now();
  page.on('request', (request) => {
    asked.push(request.url());
    if (STREAMS.test(request.url())) return;
    open.add(request);
    last = Date.now();
  });
  const end = (request) => {
    if (open.delete(request)) last = Date.now();
  };
  page.on('requestfinished', end);
  page.on('requestfailed', end);
  const quiet = () => until(() => open.size === 0 && Date.now() - last > QUIET_MS * Math.sqrt(slower), 'the network to be quiet');
  return { asked, quiet };
}

// Measures one load with an empty cache. `slower`: the factor by which the page's thread is slowed.
export async function measureLoad(page, url, slower) {
  await page.addInitScript(observe);
  const requests = watchRequests(page, slower);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: slower });
  await page.goto(url);
  await page.waitForFunction(() => globalThis.seen.filled > 0);
  await requests.quiet();
  const seen = await page.evaluate(() => globalThis.seen);
  return { ...seen, asked: requests.asked };
}

// Begins to record interactions (click, key, tap), each with its time from the input to the next frame. The browser
// does not report interactions below 16 ms.
export const watchInteractions = (page) => page.evaluate(() => {
  const all = new Map();
  globalThis.interactions = all;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) {
      if (!one.interactionId) continue;
      const ms = Math.max(one.duration, all.get(one.interactionId)?.ms ?? 0);
      all.set(one.interactionId, { ms, what: `${one.name} on ${one.target?.tagName ?? 'what is gone'} ${(one.target?.textContent ?? '').slice(0, 30)}` });
    }
  }).observe({ type: 'event', durationThreshold: 16 });
});
export const interactionsOf = (page) => page.evaluate(async () => {
  // The browser reports the last interaction only after its frame is painted.
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 100)));
  return [...globalThis.interactions.values()];
});

// Records the duration of each frame until it is stopped, and the most rows of a log that were in the document.
export const watchFrames = (page) => page.evaluate(() => {
  const frames = { ms: [], rows: 0, stop: false };
  globalThis.frames = frames;
  let before = performance.now();
  const look = (now) => {
    frames.ms.push(now - before);
    before = now;
    frames.rows = Math.max(frames.rows, document.querySelectorAll('[data-line]').length);
    if (!frames.stop) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
});
export const framesOf = (page) => page.evaluate(() => {
  globalThis.frames.stop = true;
  return { ms: globalThis.frames.ms, rows: globalThis.frames.rows };
});

// The memory that scripts use after a garbage collection, in bytes.
export async function heapOf(page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('HeapProfiler.collectGarbage');
  await devtools.send('Performance.enable');
  const { metrics } = await devtools.send('Performance.getMetrics');
  return metrics.find((one) => one.name === 'JSHeapUsedSize').value;
}

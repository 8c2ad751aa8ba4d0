// A real cluster in a scratch directory, with a browser and users.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openPerson, startBrowser, until, withPerson } from './server.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const JARS = process.env.CARILLON_JARS ?? here('../../../build/jars');
const BIN = process.env.CARILLON_BIN ?? here('../../../build/dev/bin');

// Starts a cluster for all tests of a file. `status`: the status when the cluster had a leader, with the
// administrator's `token`. `cluster`: runs a command of deploy/cluster. `person`: a page of a user who is signed in.
// `open`: the same, but the test closes it.
export function withCluster({ schedulers, executors }) {
  const scratch = mkdtempSync(join(tmpdir(), 'carillon-console-cluster-'));
  const cluster = async (verb, ...rest) => (await promisify(execFile)('python3', [
    here('../../../deploy/cluster/cluster.py'), '--bin', BIN, '--jars', JARS, verb, '--dir', join(scratch, 'c'), ...rest,
  ], { timeout: 240_000 })).stdout;
  const status = {};
  let browser;
  before(async () => {
    await cluster('up', '--schedulers', String(schedulers), '--executors', String(executors));
    browser = await startBrowser();
    const ready = await until(async () => {
      const now = JSON.parse(await cluster('status', '--json'));
      return now.ready && now.leader && now;
    }, 'a leader');
    Object.assign(status, ready, { token: readFileSync(ready.token_file, 'utf8').trim() });
  }, { timeout: 300_000 });
  after(async () => {
    await browser?.close();
    await cluster('down', '--purge').catch(() => {});
    rmSync(scratch, { recursive: true, force: true });
  }, { timeout: 120_000 });
  return {
    cluster,
    status,
    person: (options, body) => withPerson(browser, { token: status.token, ...options }, body),
    open: (options) => openPerson(browser, { token: status.token, ...options }),
  };
}

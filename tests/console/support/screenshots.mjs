// Takes the pictures of the README (docs/images/*.png) from the real console with sample data.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openPerson, startBrowser, startServer, until } from './server.mjs';

const IMAGES = fileURLToPath(new URL('../../../docs/images/', import.meta.url));
const JOBS = [
  ['nightly-backup', 'Nightly backup', '30 3 * * *', 'echo backed up', 'Europe/Paris'],
  ['hourly-report', 'Hourly report', '5 * * * *', 'echo "report of $(date)"', 'UTC'],
  ['mail-queue', 'Mail queue', '*/5 * * * *', 'sleep 0.2; echo delivered', 'UTC'],
  ['weekday-invoices', 'Weekday invoices', '0 9 * * MON-FRI', 'echo sent', 'America/New_York'],
  ['certificate-check', 'Certificate check', '15 6 * * *', 'echo "expires in 3 days" >&2; exit 2', 'UTC'],
];
const PICTURES = [['overview', '/'], ['job', '/jobs/mail-queue'], ['schedule', '/schedule?zone=UTC']];

mkdirSync(IMAGES, { recursive: true });
const [server, browser] = await Promise.all([startServer(), startBrowser()]);
try {
  for (const [job_id, name, cron_expression, command, time_zone] of JOBS) {
    await server.api('POST', 'jobs', { job_id, name, cron_expression, command, time_zone });
  }
  const runs = ['nightly-backup', 'hourly-report', 'certificate-check', ...Array.from({ length: 12 }, () => 'mail-queue')];
  for (const id of runs) await server.api('POST', `jobs/${id}/execute`, {});
  await until(async () => (await server.api('GET', 'runs?state=COMPLETED&state=FAILED')).items.length >= runs.length, 'the runs');
  const { page, close } = await openPerson(browser, { token: server.token });
  for (const [name, path] of PICTURES) {
    await page.goto(server.url + path);
    await page.locator('h1').waitFor(); // the network is never idle, because the stream of changes stays open
    await until(async () => (await page.getByText('Loading…').count()) === 0, 'the page');
    await page.screenshot({ path: `${IMAGES}${name}.png` });
  }
  await close();
} finally {
  await browser.close();
  await server.stop();
}

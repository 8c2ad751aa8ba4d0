import { describe, expect, it } from 'vitest';
import type { Imported } from '../../../api/types';
import { beginCreation, type Outcome } from './create_jobs';
import { DumpFilter } from './dump_filter';
import { countsOf, rowsOf, rowsWith, tally } from './report';
import { joined, readFile, textOf } from './sources';

const filtered = (text: string, piece = text.length) => {
  const filter = new DumpFilter();
  for (let i = 0; i < text.length; i += piece) filter.push(text.slice(i, i + piece));
  return filter.end();
};

describe('the filter of a dump', () => {
  const info =
    "INSERT INTO `xxl_job_info` VALUES (1,'it\\'s; a \\\\',\"x;\"),\n(2,'two''s -- no comment\n INSERT INTO `xxl_job_log`','#');";
  const group = "CREATE TABLE `xxl_job_group` (\n  `id` int COMMENT 'a;b'\n);";
  const dump =
    "-- Host: it's `here`;\n/*!40101 SET NAMES utf8mb4 */;\n" +
    "INSERT INTO `xxl_job_log` VALUES (1,'INSERT INTO `xxl_job_info`');\n" +
    `DROP TABLE IF EXISTS \`xxl_job_info\`;\n-- a table's comment\n${group}\n` +
    `LOCK TABLES \`xxl_job_info\` WRITE;\n/* don't; */ # nor';\n${info}\nUNLOCK TABLES;\n`;

  it('a dump keeps the two tables and loses the others, however it is cut', () => {
    const whole = filtered(dump);
    expect(whole).toContain(info);
    expect(whole).toContain(group);
    expect(whole).not.toContain('xxl_job_log` VALUES');
    expect(whole).not.toContain('LOCK TABLES');
    for (const piece of [1, 2, 3, 7, 64]) expect(filtered(dump, piece), String(piece)).toBe(whole);
  });

  it('a table with a similar name is not kept', () => {
    expect(filtered('INSERT INTO `xxl_job_information` VALUES (1);')).toBe('');
    expect(filtered("INSERT INTO `notes` VALUES ('xxl_job_info');")).toBe('');
    for (const name of ['xxl_job.xxl_job_info', '`XXL_JOB_QRTZ_TRIGGER_GROUP`'])
      expect(filtered(`insert into ${name} (id) values (1);`), name).not.toBe('');
  });

  it('a statement that the dump cuts off is kept', () => {
    expect(filtered("INSERT INTO `xxl_job_info` VALUES (1,'a")).toBe(
      "INSERT INTO `xxl_job_info` VALUES (1,'a",
    );
  });

  it('a long statement is kept whole, and a long foreign one is not', () => {
    const long = "INSERT INTO `xxl_job_info` VALUES (1,'" + 'x'.repeat(20_000) + "');";
    expect(filtered(long + long.replace('_info', '_log') + long, 1000)).toBe(long + long);
  });

  it('a large file is filtered while it is read, and its characters stay whole', async () => {
    const log = `INSERT INTO \`xxl_job_log\` VALUES ('${'日志'.repeat(100)}');\n`.repeat(1500);
    const file = new File([log, "INSERT INTO `xxl_job_info` VALUES ('任务');\n", log], 'dump.sql');
    expect(await readFile('xxl-job', file)).toEqual({
      name: 'dump.sql',
      text: "\nINSERT INTO `xxl_job_info` VALUES ('任务');",
    });
  });
});

it('files are joined by what a reader of their kind separates', () => {
  const files = [
    { name: 'a.timer', text: '[Timer]' },
    { name: 'a.service', text: '[Service]' },
  ];
  expect(joined('systemd', files)).toBe('# /a.timer\n[Timer]\n# /a.service\n[Service]');
  expect(joined('systemd', [{ name: 'a (1).timer', text: '' }])).toBe('# /a_(1).timer\n');
  expect(joined('cronjob', files)).toBe('[Timer]\n---\n[Service]');
  expect(textOf('crontab', { text: 'typed', files: [] })).toBe('typed');
  expect(textOf('crontab', { text: 'typed', files: [files[0]!] })).toBe('[Timer]');
});

it('batches keep the order, and are limited by number and by size', () => {
  const jobs = Array.from({ length: 1201 }, (_, i) => ({ job_id: 'j' + i }));
  const { batches } = beginCreation(jobs);
  expect(batches.map((batch) => batch.length)).toEqual([500, 500, 201]);
  expect(batches.flat()).toEqual(jobs);
  const large = Array.from({ length: 5 }, (_, i) => ({ job_id: 'j' + i, script: 'x'.repeat(400_000) }));
  expect(beginCreation(large).batches.map((batch) => batch.length)).toEqual([2, 2, 1]);
  expect(beginCreation([]).batches).toEqual([]);
});

it('jobs are created in the namespace that was chosen', () => {
  expect(beginCreation([{ job_id: 'a' }], 'shop').batches).toEqual([[{ job_id: 'a', namespace: 'shop' }]]);
  expect(beginCreation([{ job_id: 'a' }]).batches).toEqual([[{ job_id: 'a' }]]);
});

it('a row has the zone of its job and what became of it', () => {
  const row = (job_id: string | null, verdict: 'mapped' | 'remarked' | 'refused') => ({
    source: 'row',
    verdict,
    remarks: [],
    job_id,
    expression: null,
    next: [],
  });
  const imported: Imported = {
    jobs: [
      { job_id: 'a', time_zone: 'Asia/Tokyo' },
      { job_id: 'b', schedules: [{ kind: 'cron', time_zone: 'UTC' }] },
      { job_id: 'c' },
    ],
    rows: [row('a', 'mapped'), row('b', 'remarked'), row('c', 'mapped'), row(null, 'refused')],
  };
  const outcomes = new Map<string, Outcome>([
    ['a', { result: 'created', error: null, warnings: [{ schedule: 0, code: 'skips_months', detail: '' }] }],
    ['c', { result: 'failed', error: null, warnings: [] }],
  ]);
  const rows = rowsOf(imported, 'Europe/Paris');
  expect(rows.map((one) => one.zone)).toEqual(['Asia/Tokyo', 'UTC', 'Europe/Paris', 'Europe/Paris']);
  expect(countsOf(rows, outcomes)).toEqual({ all: 4, remarked: 1, refused: 1, warned: 1, failed: 1 });
  expect(rowsWith(rows, 'failed', outcomes).map((one) => one.job_id)).toEqual(['c']);
  expect(tally(outcomes)).toEqual({ created: 1, exists: 0, failed: 1 });
});

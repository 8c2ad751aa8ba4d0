import { describe, expect, it } from 'vitest';
import { countFrom, isAtLeast, levelOf } from './log_levels';
import { LogText } from './log_lines';

const ERROR = [
  'ERROR something broke',
  'ERROR: relation "x" does not exist',
  '[ERROR] something broke',
  '[error] something broke',
  'error: no such file',
  'FATAL:  terminating connection',
  '2026-11-22 10:00:00,123 ERROR [main] com.example.Shop - no price',
  '2026-11-22 10:00:00.123 ERROR 4711 --- [main] c.e.Shop : no price',
  '10:00:00.123 [main] ERROR c.example.Shop - no price',
  '2026-11-22T10:00:00Z ERROR no price',
  '[2026-11-22T10:00:00Z ERROR app::shop] no price',
  '2026-11-22 10:00:00,123 - shop - ERROR - no price',
  'ERROR:root:no price',
  'CRITICAL:shop:no price',
  '2026/11/22 10:00:00 [error] 31#31: *1 open() failed',
  '[Sun Nov 22 10:00:00.1 2026] [core:error] [pid 1] AH00124: too deep',
  'E1122 10:00:00.123456 4711 shop.cc:12] no price',
  'E20261122 10:00:00.123456 4711 shop.cc:12] no price',
  'F1122 10:00:00.123456 4711 shop.cc:12] check failed',
  'time=2026-11-22T10:00:00Z level=error msg="no price"',
  '{"time":"2026-11-22T10:00:00Z","level":"error","msg":"no price"}',
  '{"severity": "CRITICAL", "message": "no price"}',
  '{"level":50,"time":1,"msg":"no price"}',
  'ERROR set level=info',
];
const WARN = [
  'WARN  low disk',
  'WARNING:root:low disk',
  'W1122 10:00:00.1 1 a.go:1] low disk',
  '{"level":"warn"}',
  'level=WARN msg=low',
  'ts=1 lvl=warn msg="level=info"',
  '[warn] low disk',
  'warning: unused',
];
const INFO = [
  'INFO started',
  'I1122 10:00:00.1 1 a.go:1] started',
  '{"level":30}',
  '2026-11-22 10:00:00 INFO  started',
  '[INFO] BUILD',
  '<info> up',
  'info - started',
];
const DEBUG = [
  'DEBUG x',
  'TRACE x',
  '{"level":"trace"}',
  '{"level":10}',
  '2026-11-22 10:00:00 | DEBUG    | app:run:1 - x',
  'DEBUG:asyncio:Using selector',
];
const NONE = [
  '',
  'hello',
  'there is no ERROR here',
  '0 errors, 1 warning',
  'info desk is open',
  'error handling is fine',
  'an error: nothing',
  '    at com.example.ERROR (Shop.java:3)',
  '\tERROR below',
  'Informational',
  'INFORMATION_SCHEMA is read',
  '{"msg":"level"}',
  '{ not json',
  '[main] hello',
  'set level=debug',
  '[the error log] opened',
  'E1122 is a part number',
  'fine',
  'verbose output follows',
  'alert the guard',
  '-----',
  '2026-11-22 10:00:00 done',
];

describe('the level of a line', () => {
  for (const [level, lines] of [
    ['ERROR', ERROR],
    ['WARN', WARN],
    ['INFO', INFO],
    ['DEBUG', DEBUG],
    [null, NONE],
  ] as const) {
    for (const line of lines)
      it(`levelOf finds ${level}: ${line.slice(0, 70)}`, () => expect(levelOf(line)).toBe(level));
  }
  it('levelOf is fast even on adversarial lines', () => {
    const begun = performance.now();
    for (const line of [
      '['.repeat(100_000),
      '{"a":' + ' '.repeat(100_000),
      '- '.repeat(50_000),
      '1.'.repeat(50_000),
      'level'.repeat(20_000),
    ])
      levelOf(line);
    expect(performance.now() - begun).toBeLessThan(200);
  });
});

describe('the lines of a log', () => {
  const read = (...lines: [stream: string, line: string, partial?: boolean][]) => {
    const text = new LogText();
    lines.forEach(([stream, line, partial], i) => text.add({ seq: i + 1, t: null, stream, line, partial }));
    return text.lines;
  };
  it('a line without a level has that of the line before it on its stream', () => {
    const lines = read(
      ['stdout', 'begin'],
      ['stdout', 'INFO one'],
      ['stderr', 'ERROR two'],
      ['stdout', 'more of one'],
      ['stderr', '  at two'],
      ['stdout', 'DEBUG three'],
    );
    expect(lines.map((line) => line.level)).toEqual([null, 'INFO', 'ERROR', 'INFO', 'ERROR', 'DEBUG']);
  });
  it('a line has the level of the text that it shows', () => {
    const lines = read(
      ['stdout', '\u001b[2m2026-11-22T10:00:00Z\u001b[0m \u001b[31mERROR\u001b[0m shop: no price'],
      ['stdout', 'INFO waits\rWARN still waits', true],
      ['stdout', '\r\u001b[2KDEBUG ready'],
      ['stdout', '\u001b[1AERROR late'],
    );
    expect(lines.map((line) => line.level)).toEqual(['ERROR', 'ERROR']);
  });
  it('a line in parts has the level of the whole', () => {
    const lines = read(
      ['stdout', 'INFO one'],
      ['stdout', 'ERR', true],
      ['stderr', 'x'],
      ['stdout', 'OR two'],
      ['stdout', 'more of two'],
    );
    expect(lines.map((line) => line.level)).toEqual(['INFO', 'ERROR', null, 'ERROR']);
  });
  it('the level filter keeps more severe lines and those of the scheduler', () => {
    const lines = read(
      ['stdout', 'plain'],
      ['stdout', 'DEBUG a'],
      ['stdout', 'INFO b'],
      ['stdout', 'WARN c'],
      ['stdout', 'ERROR d'],
      ['carillon', 'cut off here'],
    );
    expect(lines.filter((line) => isAtLeast(line, 'WARN')).map((line) => line.text)).toEqual([
      'WARN c',
      'ERROR d',
      'cut off here',
    ]);
    expect(lines.filter((line) => isAtLeast(line, 'DEBUG')).length).toBe(5);
    expect(countFrom(lines)).toEqual({ ERROR: 1, WARN: 2, INFO: 3, DEBUG: 4 });
  });
});

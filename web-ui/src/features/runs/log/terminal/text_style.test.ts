import { describe, expect, it } from 'vitest';
import { LogText } from '../log_lines';
import { partsOf } from '../log_parts';

const E = '\u001b';
const parts = (...lines: string[]) => {
  const log = new LogText();
  lines.forEach((line, i) => log.add({ seq: i + 1, t: null, stream: 'stdout', line }));
  return log.lines.map((line) => partsOf(line).map(({ text, style }) => [text, style]));
};
const style = (parameters: string) => parts(`${E}[${parameters}mx`)[0]![0]![1];

describe('the style of a text', () => {
  it.each([
    ['', ''],
    ['0', ''],
    ['31', 'ansi-1'],
    ['92', 'ansi-2'],
    ['90', 'ansi-7'],
    ['97', 'ansi-0'],
    ['1;4;31', 'ansi-1 font-bold underline'],
    ['3;9', 'italic line-through'],
    ['01;34', 'ansi-4 font-bold'],
    ['31;0', ''],
    ['31;', ''],
    ['31;39', ''],
    ['1;2;22;3;23;4;24;7;27;9;29;41;49', ''],
    ['2', 'ansi-7'],
    ['2;31', 'ansi-1'],
    ['41', 'ansi-on-1'],
    ['37;44', 'ansi-on-4'],
    ['37;40', 'ansi-7'],
    ['7', 'ansi-on-0'],
    ['31;7', 'ansi-on-1'],
    ['41;7', 'ansi-on-1'],
    ['102', 'ansi-on-2'],
    ['38;5;1', 'ansi-1'],
    ['38;5;9', 'ansi-1'],
    ['38;5;196', 'ansi-1'],
    ['38;5;46', 'ansi-2'],
    ['38;5;208', 'ansi-3'],
    ['38;5;21', 'ansi-4'],
    ['38;5;201', 'ansi-5'],
    ['38;5;51', 'ansi-6'],
    ['38;5;240', 'ansi-7'],
    ['38;5;255', 'ansi-0'],
    ['38;5;256', ''],
    ['38;5;196;1', 'ansi-1 font-bold'],
    ['1;38;5;196', 'ansi-1 font-bold'],
    ['38;2;255;0;0', 'ansi-1'],
    ['38;2;0;200;0;4', 'ansi-2 underline'],
    ['38;2;128;128;128', 'ansi-7'],
    ['48;2;0;0;255', 'ansi-on-4'],
    ['48;5;16', ''],
    ['38:5:196', 'ansi-1'],
    ['38:2:255:0:0', 'ansi-1'],
    ['38:2::255:0:0', 'ansi-1'],
    ['38:2:1:0:0:255', 'ansi-4'],
    ['38:2::0:0:255:1', 'ansi-4'],
    ['38:5:196;1', 'ansi-1 font-bold'],
    ['4:3', 'underline'],
    ['4;4:0', ''],
    ['4:3;58:2::255:0:0', 'underline'],
    ['58;5;196;1', 'font-bold'],
    ['38', ''],
    ['38;5', ''],
    ['38;2;1', ''],
    ['38:2', ''],
    ['38;7;31', 'ansi-1'],
    ['999;x', ''],
  ])('the parameters %s give the classes "%s"', (parameters, classes) =>
    expect(style(parameters)).toBe(classes),
  );

  it('a style lasts over the ends of lines until it is reset', () => {
    expect(parts(`a${E}[31mred`, `still${E}[1m bold`, `on${E}[m off`)).toEqual([
      [
        ['a', ''],
        ['red', 'ansi-1'],
      ],
      [
        ['still', 'ansi-1'],
        [' bold', 'ansi-1 font-bold'],
      ],
      [
        ['on', 'ansi-1 font-bold'],
        [' off', ''],
      ],
    ]);
  });
  it('text that overwrites other text has its own style', () => {
    expect(parts(`${E}[31mabcdef\r${E}[32mAB${E}[0m`)).toEqual([
      [
        ['AB', 'ansi-2'],
        ['cdef', 'ansi-1'],
      ],
    ]);
  });
  it('markup stays text', () => {
    expect(parts(`<b>${E}[31mx</b>`)).toEqual([
      [
        ['<b>', ''],
        ['x</b>', 'ansi-1'],
      ],
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { LogText, type LogLine } from '../log_lines';
import { partsOf } from '../log_parts';
import { Terminal } from './terminal';
import { NONE, type ShownText } from './terminal_row';

const E = '\u001b';
const ST = E + '\\';
const BEL = '\u0007';

// Lines of a log that a program wrote to one stream. `cut`: the most characters of an entry.
function read(output: string, cut = Infinity, log = new LogText(), stream = 'stdout'): LogLine[] {
  const whole = output.split('\n');
  whole.forEach((line, i) => {
    const isLast = i === whole.length - 1;
    for (let from = 0; from === 0 || from < line.length; from += cut) {
      const ends = from + cut >= line.length;
      if (isLast && line === '') return;
      log.add({
        seq: log.lastSeq + 1,
        t: null,
        stream,
        line: line.slice(from, from + cut),
        partial: !ends || isLast,
      });
    }
  });
  return log.lines;
}
const texts = (output: string, cut?: number) => read(output, cut).map((line) => line.text);

// Output of programs, and the lines that a terminal shows.
const SHOWN: [what: string, output: string, ...lines: string[]][] = [
  ['tput sgr0', `${E}[1mbold${E}(B${E}[m rest`, 'bold rest'],
  ['a link that ends with ST', `see ${E}]8;;https://example.org${ST}link${E}]8;;${ST} end`, 'see link end'],
  [
    'a link that ends with BEL',
    `see ${E}]8;;https://example.org${BEL}link${E}]8;;${BEL} end`,
    'see link end',
  ],
  ['a link with an id', `${E}]8;id=1:2;file:///a;b${ST}a${E}]8;;${ST}`, 'a'],
  ['a title', `${E}]0;build 3${ST}text`, 'text'],
  ['a title in eight bits', '\u009d0;build 3\u009ctext', 'text'],
  ['a title of GNU screen', `${E}kbuild${ST}text`, 'text'],
  ['a title in the pass-through of tmux', `${E}Ptmux;${E}${E}]0;x${BEL}${ST}text`, 'text'],
  ['a saved cursor', `${E}710%${E}8`, '10%'],
  ['a saved cursor of CSI', `a${E}[s10%${E}[u20%`, 'a20%'],
  ['a colour with colons', `${E}[38:5:196mred${E}[0m`, 'red'],
  ['a curly underline', `${E}[4:3mcurly${E}[0m`, 'curly'],
  ['a true colour', `${E}[38;2;255;0;0mred${E}[0m`, 'red'],
  ['a control string of a device', `${E}P1$r0m${ST}ok`, 'ok'],
  ['an application, privacy and string message', `${E}_a${ST}${E}^b${ST}${E}Xc${ST}ok`, 'ok'],
  ['a keypad mode', `${E}=x${E}>y`, 'xy'],
  ['a character set that is not in use', `${E})0x`, 'x'],
  ['a frame of the line-drawing set', `${E}(0lqk${E}(Blqk`, '┌─┐lqk'],
  ['a frame after a shift', `${E})0\u000elqk\u000flqk`, '┌─┐lqk'],
  ['a line-drawing set that is not reset', `${E}(0q\nq`, '─', 'q'],
  ['a selected encoding', `${E}%Gx${E}#8y`, 'xy'],
  ['a progress', '10%\r20%\r100% done', '100% done'],
  ['a progress that becomes shorter', '100 of 200\r200 done', '200 done00'],
  ['a progress that erases', `\r${E}[Kfetch 1\r${E}[Kfetch 2`, 'fetch 2'],
  ['a progress that erases the whole line', `fetch 10${E}[2K\rfetch 2`, 'fetch 2'],
  ['a progress that erases up to the cursor', `fetch 10${E}[1K\rdone`, 'done'],
  ['a progress with a first column', `10%${E}[1G20%${E}[G30%`, '30%'],
  ['a progress that moves left', `10%${E}[3D20%${E}[0K`, '20%'],
  ['a progress in the middle', `get ${E}[s10%${E}[u20%${E}[u30% ok`, 'get 30% ok'],
  ['a spinner with backspaces', '|\b/\b-\bdone', 'done'],
  ['a spinner that removes itself', 'wait |\b/\b \bdone', 'wait done'],
  ['a backspace at the first column', '\b\bx', 'x'],
  ['ends of lines in the manner of Windows', 'one\r\ntwo\r\r\nthree\r', 'one', 'two', 'three'],
  ['colours in eight bits', '\u009b31mred\u009b0m \u009b1mbold', 'red bold'],
  ['other controls in eight bits', 'a\u0084\u0080b', 'a', ' b'],
  ['a bell and other control characters', `a${BEL}\u0000\u007fb`, 'ab'],
  ['intermediate and private characters', `${E}[?25la${E}[>4;2mb${E}[!pc${E}[1 qd${E}[?2026h`, 'abcd'],
  ['columns of ls', `a${E}[20Gb${E}[2Cc`, 'a' + ' '.repeat(18) + 'b  c'],
  ['a status at the right', `start${E}[10G[ ok ]\r\nnext`, 'start    [ ok ]', 'next'],
  ['a tab', 'a\tb\rc', 'c\tb'],
  ['a tab that is overwritten', `a\tb${E}[4GX`, 'a  X    b'],
  ['a tab over text', 'abcdefghij\r\tX', 'abcdefghXj'],
  ['wide characters', '\u4e2d\u6587 50%\r\u4e2d\u6587 99%', '\u4e2d\u6587 99%'],
  ['half of a wide character', '\u4e2d\u6587x\rA', 'A \u6587x'],
  ['an emoji', `\u{1f680} go\r\u{1f680} ok`, '\u{1f680} ok'],
  ['a combining mark', 'e\u0301te\u0301 1\re\u0301te\u0301 2', 'e\u0301te\u0301 2'],
  [
    'characters that are erased, removed and inserted',
    `abcdef\r${E}[2X${E}[2C${E}[1P${E}[2@`,
    '  \u0020\u0020def',
  ],
  ['a character that is repeated', `-${E}[3b`, '----'],
  ['a far column', `a${E}[99999Gb`, 'a' + ' '.repeat(249) + 'b'],
  [
    'lines that are erased and printed again',
    `a\nb\n${E}[2K${E}[1A${E}[2K${E}[1A${E}[2K${E}[Gc\nd\n`,
    'c',
    'd',
  ],
  ['two progress bars', `a 1%\nb 1%\n${E}[2Aa 50%\r\nb 50%\r\n${E}[Fb 99%\n`, 'a 50%', 'b 99%'],
  ['the rest of the screen', `a\nb\nc${E}[2A\r${E}[Jd`, 'd', '', ''],
  ['lines above the first', `a\n${E}[99Ab`, 'b'],
  ['lines below the last', `a${E}[9Bb`, 'a', ' b'],
  ['a reverse index', `a\nb${E}M\rc`, 'c', 'b'],
  ['a next line', `a${E}Eb\u0085c`, 'a', 'b', 'c'],
  ['a form feed', 'a\fb', 'a', ' b'],
  ['a cleared screen', `a\n${E}[H${E}[2Jb\n${E}[H${E}[2J${E}[3Jc`, 'a', 'b', 'c'],
  ['a reset', `a${E}[31m${E}cb`, 'a', 'b'],
  ['a screen that is drawn again', `${E}[Htop 1\r\nload 1${E}[Htop 2\r\nload 2`, 'top 2', 'load 2'],
  ['places on the screen', `${E}[5;1Hfive${E}[2;3Htwo${E}[5;1HFive`, 'Five', '  two'],
  ['the other screen', `a${E}[?1049hb${E}[?1049lc`, 'a', 'b', 'c'],
  ['an unfinished sequence', `a${E}[31\nb${E}\nc${E}]0;title\nd`, 'a', 'b', 'c0;title', 'd'],
  ['a malformed sequence', `a${E}[3\u00e9b${E}\u00e9c`, 'a\u00e9b\u00e9c'],
  ['a cancelled sequence', `a${E}]0;title\u0018b`, 'ab'],
  ['many unterminated sequences', `${E}]`.repeat(10_000) + '\nend', '', 'end'],
  ['only sequences', `${E}[?25l\n${E}[0m\n`, '', ''],
  ['empty lines', '\n\na\n', '', '', 'a'],
  // Programs.
  [
    'pip',
    `\r   ${E}[90m━━━━${E}[0m ${E}[32m0.0/5.1 MB${E}[0m\r${E}[2K   ${E}[32m━━━━${E}[0m 5.1/5.1 MB`,
    '   ━━━━ 5.1/5.1 MB',
  ],
  ['curl', '  % Total\n\r  0     0    0\r 50  1000   50\r100  2000  100\n', '  % Total', '100  2000  100'],
  ['wget', '\rf      0%[    ]   0\rf    100%[===>] 10K\r\n', 'f    100%[===>] 10K'],
  ['rsync', '\r  32,768  10%\r 327,680 100%  (xfr#1)\nsent', ' 327,680 100%  (xfr#1)', 'sent'],
  [
    'git clone',
    `remote: Counting: 10% (1/10)${E}[K\rremote: Counting: 100% (10/10), done.${E}[K\nx`,
    'remote: Counting: 100% (10/10), done.',
    'x',
  ],
  [
    'apt',
    `Unpacking a\r\n${E}7${E}[24;0f${E}[42mProgress: [ 50%]${E}[49m ${E}8Setting up a\r\n${E}7${E}[24;0fProgress: [100%] ${E}8Done\r\n`,
    'Unpacking a',
    'Progress: [100%] ',
    'Setting up a',
    'Done',
  ],
  ['npm', `${E}[1G${E}[0K⠙${E}[1G${E}[0K⠹${E}[1G${E}[0K\nadded 3 packages`, '', 'added 3 packages'],
  [
    'cargo',
    `${E}[1m${E}[36m  Building${E}[0m [>  ] 0/2\r${E}[K${E}[1m${E}[32m Compiling${E}[0m a v1\n`,
    ' Compiling a v1',
  ],
  [
    'gcc',
    `${E}[01m${E}[Ka.c:1:${E}[m${E}[K ${E}[01;31m${E}[Kerror: ${E}[m${E}[Kno [${E}]8;;https://gcc.gnu.org/x${BEL}-Wx${E}]8;;${BEL}]`,
    'a.c:1: error: no [-Wx]',
  ],
  ['ls --hyperlink', `${E}[0m${E}]8;;file://h/a${BEL}${E}[01;34ma${E}[0m${E}]8;;${BEL}  b`, 'a  b'],
  [
    'docker pull',
    `a: Pulling\r\nb: Pulling\r\n${E}[2A${E}[2K\ra: 10%\r${E}[2B${E}[1A${E}[2K\rb: 10%\r${E}[1B${E}[2A${E}[2K\ra: done\r${E}[2BStatus: ok\r\n`,
    'a: done',
    'b: 10%',
    'Status: ok',
  ],
  ['tqdm', `\r 0%|  |${E}[A\r50%|# |\n`, ' 0%|  |'.replace(' 0%|  |', '50%|# |')],
];

describe('the output of a program', () => {
  for (const [what, output, ...lines] of SHOWN) {
    it(`the lines of ${what} are those of a terminal`, () => expect(texts(output)).toEqual(lines));
    it(`the lines of ${what} are the same if it arrives in pieces`, () => {
      for (const cut of [1, 2, 3, 7])
        expect(
          read(output, cut).map((line) => line.text),
          `${cut}`,
        ).toEqual(lines);
    });
  }
  it('two streams have separate terminals', () => {
    const log = new LogText();
    read(`${E}[31mout 1\r`, Infinity, log);
    read('err', Infinity, log, 'stderr');
    read('out 2', Infinity, log);
    read(`${E}]0;x`, Infinity, log, 'stderr');
    read(' out 3', Infinity, log);
    read(`y${BEL} more`, Infinity, log, 'stderr');
    expect(log.lines.map((line) => [line.text, partsOf(line)[0]!.style])).toEqual([
      ['out 2 out 3', 'ansi-1'],
      ['err more', ''],
    ]);
  });
  it('the cursor goes back at most 200 lines, also in a long log', () => {
    const long = Array.from({ length: 1000 }, (_, i) => `line ${i}\n`).join('');
    const lines = texts(`${long}${E}[150Ax${E}[999Ay${E}[999;1Hz`);
    expect(lines).toHaveLength(1001);
    expect(lines[850]).toBe('xine 850');
    expect(lines[800]).toBe('lyne 800');
    expect(lines[1000]).toBe('z');
  });
});

describe('the earlier states of a line', () => {
  const earlier = (output: string) => read(output).map((line) => line.earlier);
  it('each state of a progress is kept once', () => {
    expect(earlier('10%\r20%\r100% done')).toEqual([['10%', '20%']]);
    expect(earlier(`\r${E}[Kfetch 1\r${E}[Kfetch 2`)).toEqual([['fetch 1']]);
    expect(earlier(`fetch 1${E}[2K\rfetch 2${E}[2K\r`)).toEqual([['fetch 1', 'fetch 2']]);
    expect(earlier(`10% abc\r20%${E}[K\r30%${E}[K`)).toEqual([['10% abc', '20%']]);
    expect(earlier('|\b/\b-\bdone')).toEqual([['|', '/', '-']]);
    expect(earlier('same\rsame\rsame')).toEqual([[]]);
    expect(earlier('a\rb\ra\rb')).toEqual([['a', 'b', 'a']]);
    expect(earlier('abc\b \b\b \b\b \b')).toEqual([['abc']]);
    expect(earlier('text\r\n')).toEqual([[]]);
    expect(earlier(`a\nb\n${E}[2A${E}[Jc\n`)).toEqual([['a'], ['b']]);
  });
  it('the last hundred states are kept, and all are counted', () => {
    const [line] = read(Array.from({ length: 1001 }, (_, i) => `${i}%`).join('\r'));
    expect([line!.text, line!.earlierCount, line!.earlier.length]).toEqual(['1000%', 1000, 100]);
    expect(line!.earlier.at(-1)).toBe('999%');
  });
  it('earlier states for which there is no room are only counted', () => {
    const lines: ShownText[] = [];
    const begin = () => {
      lines.push({ text: '', marks: NONE, earlier: NONE, earlierCount: 0 });
      return lines.at(-1)!;
    };
    const terminal = new Terminal(begin, () => {}, { left: 8 });
    terminal.write('10%\r20%\r30%\r40%', true);
    terminal.write('a\rb\rc\rd', true);
    expect(lines.map((line) => [line.text, line.earlierCount, line.earlier])).toEqual([
      ['40%', 3, ['10%', '20%']],
      ['d', 3, ['a', 'b']],
    ]);
  });
});

describe('the speed of a terminal', () => {
  // The limit is far above what is measured, and far below what one more pass for each sequence would take.
  it('output that a program never writes is read fast', () => {
    const began = performance.now();
    for (const output of [
      `${E}]`.repeat(100_000),
      `${E}[`.repeat(100_000),
      `${E}[${'1;'.repeat(100_000)}`,
      `${E}[${'1;'.repeat(100_000)}m`,
      `${E}]0;${'x'.repeat(200_000)}`,
      `${'x'.repeat(200_000)}\r`.repeat(10),
      `${'x\b'.repeat(100_000)}`,
      `${'x'.repeat(3900)}\n${'y'.repeat(3900)}${`${E}[Ax${E}[By`.repeat(20_000)}`,
      `x${E}[99999b`.repeat(1000),
      `${E}[99999Cx`.repeat(10_000),
      `${E}[99999@`.repeat(1000),
      `${E}[9999;9999Hx`.repeat(20_000),
      `x\n${E}[J`.repeat(5000),
    ]) {
      read(output);
      read(output.slice(0, 50_000), 100);
    }
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});

import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { unquotedIn } from './yaml_hint';

describe('a value without quotes', () => {
  it('the hint names the line and quotes the value', () => {
    for (const [text, quoted] of [
      ['name: a\ncron_expression: */5 * * * *\n', "'*/5 * * * *'"],
      ['name: a\ncron_expression: * * * * *\n', "'* * * * *'"],
      ['schedules:\n  - cron_expression: */5 * * * *  # often\n', "'*/5 * * * *'"],
      ['name: a\ncron_expression: @daily\n', "'@daily'"],
      ["name: a\ncommand: %s it's\n", "'%s it''s'"],
    ] as const) {
      expect(() => parse(text) as unknown, text).toThrow();
      expect(unquotedIn(text), text).toEqual({ line: 2, quoted });
    }
  });

  it('the hint names the line of the error only', () => {
    expect(unquotedIn('base: &b {a: 1}\nname: *b\ncron_expression: */5 * * * *\n')).toEqual({
      line: 3,
      quoted: "'*/5 * * * *'",
    });
    expect(unquotedIn('command: |\n  * ) echo x;;\nlabels: [a\n')).toBeNull();
  });

  it('an anchor, an alias and a quoted text are not to blame', () => {
    for (const text of ['a: &x', 'b: *x', "c: '* * * * *'", 'd: "@daily"', '# e: * * *', 'f: 2 * 3', ''])
      expect(unquotedIn(text), text).toBeNull();
  });
});

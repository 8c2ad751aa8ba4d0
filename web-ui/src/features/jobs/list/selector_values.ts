// A selector of labels as its conditions, such as "team = etl" and "!old" (docs/api.md#routing). Pure. Whether they are
// good is for the server to say.

const QUOTED = /[\s,()=!]/;

// At the commas that are outside of quotation marks and parentheses.
export function conditionsOf(selector: string): string[] {
  const conditions: string[] = [];
  let from = 0;
  let depth = 0;
  let quoted = false;
  for (let at = 0; at <= selector.length; ++at) {
    const c = selector[at];
    if (c === '"') quoted = !quoted;
    else if (!quoted && c === '(') ++depth;
    else if (!quoted && c === ')') --depth;
    if (at < selector.length && (c !== ',' || quoted || depth > 0)) continue;
    conditions.push(selector.slice(from, at).trim());
    from = at + 1;
  }
  return conditions.filter((one) => one !== '');
}

const joined = (conditions: readonly string[]): string | undefined => conditions.join(', ') || undefined;
const same = (a: string, b: string) => a.replaceAll(/\s/g, '') === b.replaceAll(/\s/g, '');

// `more` may be several conditions; one that is there already is not added.
export function withCondition(selector: string | undefined, more: string): string | undefined {
  const before = conditionsOf(selector ?? '');
  return joined([
    ...before,
    ...conditionsOf(more).filter((one) => !before.some((other) => same(one, other))),
  ]);
}

export const withoutCondition = (selector: string, condition: string): string | undefined =>
  joined(conditionsOf(selector).filter((one) => one !== condition));

const word = (text: string) => (text === '' || QUOTED.test(text) ? `"${text}"` : text);

// What picks the jobs with a label; a quotation mark cannot be said, so that a value with one is any value.
export function conditionFor(name: string, value: string): string | null {
  if (name.includes('"')) return null;
  return value.includes('"') ? word(name) : `${word(name)}=${word(value)}`;
}

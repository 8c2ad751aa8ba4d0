// Reads and writes a label selector as a list of conditions, such as "team = etl" and "!old"
// (docs/api.md#routing). The server decides whether the conditions are valid. Pure.

const QUOTED = /[\s,()=!]/;

// Splits at commas that are outside of quotation marks and parentheses.
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

// Adds the conditions of `more` that the selector does not have yet.
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

// Returns the condition for the jobs with a label. If the value contains a quotation mark, the condition
// allows any value, because a selector cannot contain a quotation mark.
export function conditionFor(name: string, value: string): string | null {
  if (name.includes('"')) return null;
  return value.includes('"') ? word(name) : `${word(name)}=${word(value)}`;
}

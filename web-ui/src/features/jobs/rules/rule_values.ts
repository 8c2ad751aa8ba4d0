// Rules for the parameters of a job as rows of the form, and their values as texts. Pure.
import type { ParameterRule } from '../../../api/types';
import type { Definition } from '../form/definition';

export const PARAMETER_TYPES = ['string', 'integer', 'number', 'boolean'] as const;
export const RULES_MAX = 100;
const CHOICES_MAX = 100;
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

export interface RuleRow {
  name: string;
  type: string;
  default: string; // empty: none
  choices: string; // one per line; empty: any value
  required: boolean;
  description: string;
  kept: string; // the original rule and default, as JSON: texts that were not changed keep their values
}
export const EMPTY_RULE: RuleRow = {
  name: '',
  type: 'string',
  default: '',
  choices: '',
  required: false,
  description: '',
  kept: '{}',
};
type Kept = { rule?: ParameterRule; default?: unknown };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// Returns a value as it is entered; "" for none.
export const textOfValue = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

// Returns the value that a text means for a type; undefined if it means none.
export function valueOfText(type: string | undefined, text: string): unknown {
  const trimmed = text.trim();
  switch (type) {
    case 'integer':
      return /^[+-]?\d+$/.test(trimmed) && Number.isSafeInteger(+trimmed) ? +trimmed : undefined;
    case 'number':
      return trimmed !== '' && Number.isFinite(+trimmed) ? +trimmed : undefined;
    case 'boolean':
      return trimmed === 'true' ? true : trimmed === 'false' ? false : undefined;
    default:
      return text;
  }
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');
const choicesText = (choices: readonly unknown[] | undefined): string =>
  (choices ?? []).map(textOfValue).join('\n');

export const rulesOf = (value: unknown): Record<string, ParameterRule> =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).filter((one): one is [string, ParameterRule] => isObject(one[1])),
      )
    : {};

export function ruleRowsOf(definition: Definition): RuleRow[] {
  const defaults = isObject(definition.parameters) ? definition.parameters : {};
  return Object.entries(rulesOf(definition.parameter_rules)).map(([name, rule]) => ({
    name,
    type: rule.type ?? 'string',
    default: textOfValue(defaults[name]),
    choices: choicesText(rule.choices),
    required: rule.required === true,
    description: rule.description ?? '',
    kept: JSON.stringify({ rule, default: defaults[name] } satisfies Kept),
  }));
}

function choicesOf(row: RuleRow): unknown[] {
  const { rule } = JSON.parse(row.kept) as Kept;
  if (row.type === 'boolean') return [];
  if (rule?.choices && rule.type === row.type && choicesText(rule.choices) === row.choices)
    return rule.choices;
  return linesOf(row.choices).map((line) =>
    valueOfText(row.type, row.type === 'string' ? line.trim() : line),
  );
}

// Returns the rules, and the defaults of parameters that have one.
export function definitionOfRules(rows: readonly RuleRow[]): {
  rules: Record<string, ParameterRule>;
  defaults: Record<string, unknown>;
} {
  const rules: Record<string, ParameterRule> = {};
  const defaults: Record<string, unknown> = {};
  for (const row of rows) {
    const kept = JSON.parse(row.kept) as Kept;
    const name = row.name.trim();
    rules[name] = {
      ...kept.rule,
      type: row.type as ParameterRule['type'],
      description: row.description.trim(),
      choices: choicesOf(row) as ParameterRule['choices'],
      required: row.required,
    };
    if (row.required) continue;
    const same = kept.default !== undefined && textOfValue(kept.default) === row.default;
    const value = same && kept.rule?.type === row.type ? kept.default : valueOfText(row.type, row.default);
    if (row.default !== '' || (same && value === '')) defaults[name] = value;
  }
  return { rules, defaults };
}

// Returns the invalid field of a row and a code for the problem.
export function wrongInRule(
  row: RuleRow,
  others: readonly RuleRow[],
): readonly [keyof RuleRow, string] | null {
  const name = row.name.trim();
  if (!NAME.test(name)) return ['name', 'parameter_name'];
  if (others.some((one) => one !== row && one.name.trim().toUpperCase() === name.toUpperCase()))
    return ['name', 'parameter_twice'];
  const choices = choicesOf(row);
  const wrong = choices.findIndex((one) => one === undefined);
  if (wrong >= 0) return ['choices', `choice:${wrong + 1}`];
  if (choices.length > CHOICES_MAX) return ['choices', `choices_many:${CHOICES_MAX}`];
  if (row.required || row.default === '') return null;
  const value = valueOfText(row.type, row.default);
  if (value === undefined) return ['default', `of_${row.type}`];
  return choices.length > 0 && !choices.includes(value) ? ['default', 'no_choice'] : null;
}

const FIELDS = ['type', 'choices', 'required', 'description'] as const;
// Returns the place of the field that shows an error of the server about a parameter and, if it is about
// the rule, about a member of the rule.
export function ruleFieldOf(
  names: readonly string[],
  name: string | undefined,
  member?: string,
): `rules.${number}.${keyof RuleRow}` | null {
  const at = names.findIndex((one) => one.trim() === name);
  if (at < 0) return null;
  const field = (FIELDS as readonly string[]).includes(member ?? '') ? (member as keyof RuleRow) : 'name';
  return `rules.${at}.${field}`;
}

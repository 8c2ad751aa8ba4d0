// Ordinal numbers: "3rd" in English; other languages put the number into a sentence of their own. Pure.
const ENDINGS: Record<string, string> = { one: 'st', two: 'nd', few: 'rd' };
const rules = new Intl.PluralRules('en', { type: 'ordinal' });

export const ordinal = (n: number): string => n + (ENDINGS[rules.select(n)] ?? 'th');
export const ordinalIn = (language: string, n: number): string =>
  language === 'en' ? ordinal(n) : String(n);

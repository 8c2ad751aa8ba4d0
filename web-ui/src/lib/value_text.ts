// Returns the value of a field as text.
export function valueText(value: unknown): string {
  if (value === '' || value === null || value === undefined) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value, null, typeof value === 'object' ? 1 : 0);
}

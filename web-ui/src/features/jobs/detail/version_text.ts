// Values of fields as text, and which two versions are compared. Pure.
export function valueText(value: unknown): string {
  if (value === '' || value === null || value === undefined) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value, null, typeof value === 'object' ? 1 : 0);
}

// The newer and the older one, as the URL has them. A third takes the place of the one picked last but one.
export function picked(chosen: readonly number[], version: number): [string | undefined, string | undefined] {
  const next = chosen.includes(version)
    ? chosen.filter((one) => one !== version)
    : [...chosen.slice(-1), version];
  const [newer, older] = next.toSorted((a, b) => b - a);
  return [newer?.toString(), older?.toString()];
}

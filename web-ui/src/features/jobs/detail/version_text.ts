// Converts the values of fields to text. Also chooses the two versions to compare. Pure.
export function valueText(value: unknown): string {
  if (value === '' || value === null || value === undefined) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value, null, typeof value === 'object' ? 1 : 0);
}

// Returns the two chosen versions for the URL, the newer one first. Choosing a version again removes it. A
// third choice replaces the version that comes first in `chosen`.
export function picked(chosen: readonly number[], version: number): [string | undefined, string | undefined] {
  const next = chosen.includes(version)
    ? chosen.filter((one) => one !== version)
    : [...chosen.slice(-1), version];
  const [newer, older] = next.toSorted((a, b) => b - a);
  return [newer?.toString(), older?.toString()];
}

// Returns the two chosen versions for the URL, the newer one first. Choosing a version again removes it. A
// third choice replaces the version that comes first in `chosen`.
export function picked(chosen: readonly number[], version: number): [string | undefined, string | undefined] {
  const next = chosen.includes(version)
    ? chosen.filter((one) => one !== version)
    : [...chosen.slice(-1), version];
  const [newer, older] = next.toSorted((a, b) => b - a);
  return [newer?.toString(), older?.toString()];
}

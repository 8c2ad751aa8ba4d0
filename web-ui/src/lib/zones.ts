// Time zones of this browser: their names, and the conversion between local times and instants. Pure.
let zones: readonly string[] | undefined;
export const allZones = (): readonly string[] =>
  (zones ??= ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]);

let own: string | undefined;
export const browserZone = (): string => (own ??= new Intl.DateTimeFormat().resolvedOptions().timeZone);

// Formats are cached, because creating a format takes longer than the other work for a cell.
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    formats.set(zone, format);
  }
  return format;
}

export function isZone(name: string): boolean {
  try {
    return Boolean(formatOf(name));
  } catch {
    return false;
  }
}

// Returns the local time in a zone as milliseconds, as if this local time were UTC. If the zone is unknown,
// UTC is used.
function shownAs(at: number, zone: string): number {
  const format = formatOf(isZone(zone) ? zone : 'UTC');
  const part = Object.fromEntries(format.formatToParts(at).map((one) => [one.type, one.value]));
  return Date.parse(`${part.year}-${part.month}-${part.day}T${part.hour}:${part.minute}:${part.second}Z`);
}

// Returns the instant of a local time such as "2026-03-29T02:30". If the local time occurs twice, returns the
// first instant. If a clock change skips the local time, the offset before the change is used: 02:30 then
// means 03:30. NaN if the text is not a time.
export function instantIn(zone: string, local: string): number {
  const wanted = Date.parse(local.length === 10 ? local + 'T00:00Z' : local + 'Z');
  if (Number.isNaN(wanted)) return NaN;
  const offsets = [wanted - 86_400_000, wanted + 86_400_000].map((at) => shownAs(at, zone) - at);
  const exact = offsets.map((offset) => wanted - offset).filter((at) => shownAs(at, zone) === wanted);
  return exact.length > 0 ? Math.min(...exact) : wanted - Math.min(...offsets);
}

// Returns the local time at an instant: "2026-03-29T03:30".
export const localIn = (zone: string, at: number) =>
  new Date(shownAs(Math.floor(at / 1000) * 1000, zone)).toISOString().slice(0, 16);

export function addDays(date: string, days: number): string {
  return new Date(Date.parse(date + 'T00:00Z') + days * 86_400_000).toISOString().slice(0, 10);
}

// The event of the test box as a text. Pure.

// An event for the first test. Its members are those of a CloudEvent.
export const sampleEvent = (type = '', source = ''): string =>
  JSON.stringify(
    {
      id: '1',
      source: source || 'shop',
      type: type.replace(/\*$/, 'created') || 'order.created',
      data: { amount: 12.5, region: 'eu' },
    },
    null,
    2,
  );

// Reads the text as a JSON object; null if it is none.
export function eventIn(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

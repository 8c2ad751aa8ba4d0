// A job's definition, as in a file or in the body of a request, and its parameters as the text of a field. Pure.
export type Definition = Record<string, unknown>;

// Reads a JSON object; null if the text is none. An empty text has no parameters.
export function parametersOf(text: string): Record<string, unknown> | null {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

export const parametersText = (value: unknown): string =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0
    ? JSON.stringify(value, null, 2)
    : '';

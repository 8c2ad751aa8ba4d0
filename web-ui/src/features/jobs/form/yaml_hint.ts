// Finds the value that YAML refuses because it lacks quotes. Pure.

// A value that begins with a character that YAML takes for something else, and is no alias, anchor or tag.
const VALUE = /^\s*(?:- +)?(?:[^\s#'"{[][^#'"]*?: +)?([%@`].*|[*&!]\S*[ /].*)$/;

export interface Unquoted {
  line: number; // from 1
  quoted: string;
}

// For a text that could not be read; null if no value is to blame.
export function unquotedIn(text: string): Unquoted | null {
  const lines = text.split(/\r?\n/);
  for (const [i, line] of lines.entries()) {
    const value = VALUE.exec(line)?.[1]?.replace(/ #.*$/, '').trim();
    if (value) return { line: i + 1, quoted: `'${value.replaceAll("'", "''")}'` };
  }
  return null;
}

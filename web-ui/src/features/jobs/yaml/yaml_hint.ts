// Finds the value that YAML refuses because it lacks quotes. Pure.
import { parseAllDocuments } from 'yaml';

// A value that begins with a character that YAML takes for something else, and is no alias, anchor or tag.
const VALUE = /^\s*(?:- +)?(?:[^\s#'"{[][^#'"]*?: +)?([%@`].*|[*&!]\S*[ /].*)$/;

export interface Unquoted {
  line: number; // from 1
  quoted: string;
}

// The line of the parser's error; undefined if only the meaning is wrong, as of an alias to nothing.
function lineOfError(text: string): number | undefined {
  for (const document of parseAllDocuments(text)) {
    const line = document.errors[0]?.linePos?.[0].line;
    if (line !== undefined) return line;
  }
  return undefined;
}

// For a text that could not be read; null if no value is to blame.
export function unquotedIn(text: string): Unquoted | null {
  const lines = text.split(/\r?\n/);
  const wrong = lineOfError(text);
  for (const [i, line] of lines.entries()) {
    if (wrong !== undefined && wrong !== i + 1) continue;
    const value = VALUE.exec(line)?.[1]?.replace(/ #.*$/, '').trim();
    if (value) return { line: i + 1, quoted: `'${value.replaceAll("'", "''")}'` };
  }
  return null;
}

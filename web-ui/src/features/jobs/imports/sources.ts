// Reads what another scheduler is exported as, and makes the text of an import request of it.
import { DumpFilter } from './dump_filter';
import type { Kind } from './kinds';

export interface SourceFile {
  name: string;
  text: string;
}

const FILTERED_FROM = 500_000; // bytes; smaller dumps are sent as they are

export async function readFile(kind: Kind, file: File): Promise<SourceFile> {
  if (kind !== 'xxl-job' || file.size < FILTERED_FROM) return { name: file.name, text: await file.text() };
  const filter = new DumpFilter();
  const decoder = new TextDecoder();
  const reader = file.stream().getReader();
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- the pieces come one after the other
    const { done, value } = await reader.read();
    if (done) break;
    filter.push(decoder.decode(value, { stream: true }));
  }
  filter.push(decoder.decode());
  return { name: file.name, text: filter.end() };
}

// The line that `systemctl cat` writes above a unit. One with a space would be a comment.
const lineAbove = (name: string) => `# /${name.replaceAll(/\s/g, '_')}\n`;

// The text of several files, with the separators that a reader of this kind knows.
export function joined(kind: Kind, files: readonly SourceFile[]): string {
  if (kind === 'systemd') return files.map(({ name, text }) => lineAbove(name) + text).join('\n');
  return files.map(({ text }) => text).join(kind === 'cronjob' ? '\n---\n' : '\n');
}

export const BODY_BYTES_MAX = 8_000_000; // slightly less than the server's limit of 8 MiB

export const textOf = (kind: Kind, { text, files }: { text: string; files: readonly SourceFile[] }) =>
  files.length > 0 ? joined(kind, files) : text;

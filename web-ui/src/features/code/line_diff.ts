// Differences of two texts, line by line, with the lines around them. Pure.
import { diffArrays } from 'diff';
import { stringify } from 'yaml';

export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  text: string;
  before?: number; // its number in the text before, from 1
  after?: number;
}
export type DiffPiece = DiffLine | { kind: 'left_out'; count: number };

const AROUND = 3;
const EDITS_MAX = 2000; // beyond, the texts have too little in common to search longer

function allLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  const changes = diffArrays([...before], [...after], { maxEditLength: EDITS_MAX }) ?? [
    { value: [...before], removed: true, added: false },
    { value: [...after], removed: false, added: true },
  ];
  let old = 0;
  let fresh = 0;
  return changes.flatMap(({ value, added, removed }) =>
    value.map((text): DiffLine => {
      if (added) return { kind: 'added', text, after: (fresh += 1) };
      if (removed) return { kind: 'removed', text, before: (old += 1) };
      return { kind: 'same', text, before: (old += 1), after: (fresh += 1) };
    }),
  );
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

// A gap of one line is shown, because a row that says so is no shorter.
export function lineDiff(before: string, after: string): DiffPiece[] {
  const lines = allLines(linesOf(before), linesOf(after));
  const near = lines.map((_, i) =>
    lines.slice(Math.max(0, i - AROUND), i + AROUND + 1).some((one) => one.kind !== 'same'),
  );
  const pieces: DiffPiece[] = [];
  for (let i = 0; i < lines.length;) {
    let end = i;
    while (end < lines.length && !near[end]) end += 1;
    if (end - i > 1) {
      pieces.push({ kind: 'left_out', count: end - i });
      i = end;
    } else {
      pieces.push(lines[i]!);
      i += 1;
    }
  }
  return pieces;
}

const LONG = 80; // characters

// A value as lines that are worth comparing line by line; null for a short one. Objects are YAML, as in files.
export function textOfValue(value: unknown): string | null {
  if (typeof value === 'string') return value.includes('\n') || value.length > LONG ? value : null;
  if (typeof value !== 'object' || value === null) return null;
  return stringify(value, { lineWidth: 0 });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function nodesOf(workflow: unknown): Map<string, string> {
  const nodes: unknown = isObject(workflow) ? workflow.nodes : undefined;
  if (!Array.isArray(nodes)) return new Map();
  return new Map(
    (nodes as unknown[]).filter(isObject).map((node) => [String(node.id), JSON.stringify(node)]),
  );
}

export interface NodeChanges {
  added: string[];
  removed: string[];
  changed: string[];
}

// The nodes in which two versions of a workflow differ, by id.
export function nodeChanges(before: unknown, after: unknown): NodeChanges {
  const old = nodesOf(before);
  const fresh = nodesOf(after);
  return {
    added: [...fresh.keys()].filter((id) => !old.has(id)),
    removed: [...old.keys()].filter((id) => !fresh.has(id)),
    changed: [...fresh].filter(([id, node]) => old.has(id) && old.get(id) !== node).map(([id]) => id),
  };
}

// Places in a YAML text: of its mistakes, and of what a JSON pointer names. Pure.
import { LineCounter, isMap, isScalar, isSeq, parseDocument, type Pair } from 'yaml';

export interface YamlMistake {
  line: number; // from 1
  code: string; // of the library, such as DUPLICATE_KEY
}
export interface YamlText {
  value: unknown; // undefined if there are mistakes
  mistakes: YamlMistake[];
  lineOf: (pointer: string) => number | undefined;
}

const wordsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((word) => word.replaceAll('~1', '/').replaceAll('~0', '~'));

export function readYamlText(text: string): YamlText {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter });
  const mistakes = document.errors.map((one) => ({
    line: lineCounter.linePos(one.pos[0]).line,
    code: one.code,
  }));
  let value: unknown;
  try {
    if (mistakes.length === 0) value = document.toJS();
  } catch {
    mistakes.push({ line: 1, code: 'BAD_ALIAS' }); // the library does not say where
  }
  const lineOf = (pointer: string) => {
    const at = offsetOf(document.contents, wordsOf(pointer));
    return at === undefined ? undefined : lineCounter.linePos(at).line;
  };
  return { value, mistakes, lineOf };
}

// Finds the beginning of the last part of the path that exists; undefined if not even the first does.
function offsetOf(root: unknown, path: readonly string[]): number | undefined {
  let node = root;
  let at: number | undefined;
  for (const word of path) {
    if (isMap(node)) {
      const pair: Pair | undefined = node.items.find(
        ({ key }) => isScalar(key) && String(key.value) === word,
      );
      if (!isScalar(pair?.key)) break;
      at = pair.key.range?.[0];
      node = pair.value;
    } else if (isSeq(node)) {
      const item: unknown = node.items[Number(word)];
      const start = isMap(item) || isSeq(item) || isScalar(item) ? item.range?.[0] : undefined;
      if (start === undefined) break;
      at = start;
      node = item;
    } else break;
  }
  return at;
}

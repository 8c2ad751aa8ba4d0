// The marks of lines with a mistake. They move with the text until the page sets them again.
import { RangeSet, StateEffect, StateField, type EditorState } from '@codemirror/state';
import { Decoration, EditorView, GutterMarker, gutterLineClass } from '@codemirror/view';

export const setWrongLines = StateEffect.define<readonly number[]>();

const line = Decoration.line({ class: 'cm-wrong' });
class Number extends GutterMarker {
  override elementClass = 'cm-wrong';
}
const number = new Number();

const startsOf = (state: EditorState, lines: readonly number[]) =>
  [...new Set(lines)]
    .filter((one) => one >= 1 && one <= state.doc.lines)
    .toSorted((a, b) => a - b)
    .map((one) => state.doc.line(one).from);

export const wrongLines = StateField.define<readonly number[]>({
  create: () => [],
  update: (starts, { effects, changes, state }) => {
    const set = effects.findLast((one) => one.is(setWrongLines));
    if (set?.is(setWrongLines)) return startsOf(state, set.value);
    return changes.empty ? starts : starts.map((start) => state.doc.lineAt(changes.mapPos(start)).from);
  },
  provide: (field) => [
    EditorView.decorations.from(field, (starts) => Decoration.set(starts.map((start) => line.range(start)))),
    gutterLineClass.from(field, (starts) => RangeSet.of(starts.map((start) => number.range(start)))),
  ],
});

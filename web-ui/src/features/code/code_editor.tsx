// The editor itself. It comes with CodeMirror, so it is loaded only with a page that needs it.
import './texts.en';
import { autocompletion, completionKeymap, type CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Annotation, EditorState, type Extension } from '@codemirror/state';
import {
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder,
  type KeyBinding,
} from '@codemirror/view';
import { useEffect, useImperativeHandle, useRef, type Ref } from 'react';
import { useTranslation } from '../../i18n/use_translation';
import { editorStyle } from './editor_style';
import { setWrongLines, wrongLines } from './wrong_lines';

export interface EditorHandle {
  focus: () => void;
  show: (line: number) => void;
}
export interface Suggestion {
  label: string;
  detail?: string;
  apply?: string; // inserted instead of the label
}
export interface Suggestions {
  from: number;
  options: Suggestion[];
  isWhole: boolean; // more letters only narrow them down
}
export type Suggest = (text: string, position: number, asked: boolean) => Promise<Suggestions | null>;

export interface EditorProps {
  label: string;
  value: string;
  invalid: boolean;
  placeholder?: string;
  wrong: readonly number[]; // lines with a mistake
  start?: number; // the place of the cursor, if the editor takes the focus at once
  suggest: Suggest;
  onChange: (text: string) => void;
  onBlur?: () => void;
}

const SHOWN_MAX = 50;
const plain = (text: string) => text.replace(/\r\n?/g, '\n');
const isOurs = Annotation.define<boolean>(); // a change that the page makes, not a person

// Tab indents only after something was done in the text. Until then, and after Escape, it goes on to the next
// element, so that the keyboard gets through the page.
function tabKeys(): Extension {
  let isActive = false;
  const act =
    (indent: (view: EditorView) => boolean): KeyBinding['run'] =>
    (view) =>
      isActive && indent(view);
  return [
    EditorView.domEventHandlers({
      focus: () => void (isActive = false),
      mousedown: () => void (isActive = true),
      keydown: ({ key }) => {
        if (key === 'Escape') isActive = false;
        else if (key !== 'Tab' && key !== 'Shift') isActive = true;
      },
    }),
    keymap.of([{ key: 'Tab', run: act(indentMore), shift: act(indentLess) }]),
  ];
}

// A letter in place of a selection. The browser would keep the style of what it removes, as an inline style, which
// the content policy forbids.
const overSelection = EditorView.domEventHandlers({
  beforeinput: ({ inputType, data }, view) => {
    const { state } = view;
    if (inputType !== 'insertText' || data === null || view.composing || state.selection.main.empty)
      return false;
    view.dispatch(state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
    return true;
  },
});

// The keys of the whole console are not typed here: outside a shadow tree, a key in it looks like one in the page.
const keepsLetters = (event: KeyboardEvent) => {
  if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
};

export default function CodeEditor(props: EditorProps & { handle: Ref<EditorHandle> }) {
  const { t } = useTranslation();
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const latest = useRef(props);
  // Texts that the page was told and has not given back. It may give back an older one while more is typed.
  const typed = useRef<string[]>([]);
  useEffect(() => {
    latest.current = props;
  });

  useEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' });
    const { label, value, start, placeholder: example, invalid } = latest.current;
    const created = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: value,
        selection: start === undefined ? undefined : { anchor: Math.min(start, plain(value).length) },
        extensions: [
          lineNumbers(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          history(),
          yaml(),
          indentOnInput(),
          bracketMatching(),
          search({ top: true }),
          highlightSelectionMatches(),
          wrongLines,
          autocompletion({
            icons: false,
            maxRenderedOptions: SHOWN_MAX,
            override: [
              async ({ state, pos, explicit }): Promise<CompletionResult | null> => {
                const found = await latest.current.suggest(state.doc.toString(), pos, explicit);
                return found && { ...found, validFor: found.isWhole ? /^[\w-]*$/ : undefined };
              },
            ],
          }),
          tabKeys(),
          overSelection,
          keymap.of([...completionKeymap, ...searchKeymap, ...historyKeymap, ...defaultKeymap]),
          placeholder(example ?? ''),
          EditorState.phrases.of(phrasesOf(t)),
          EditorView.contentAttributes.of({
            'aria-label': label,
            tabindex: '0', // so that checkers, too, see that the keyboard reaches what scrolls
            ...(invalid ? { 'aria-invalid': 'true' } : {}),
          }),
          EditorView.updateListener.of(({ docChanged, state, transactions }) => {
            if (!docChanged || transactions.some((one) => one.annotation(isOurs))) return;
            const text = state.doc.toString();
            typed.current.push(text);
            latest.current.onChange(text);
          }),
          EditorView.domEventHandlers({ blur: () => latest.current.onBlur?.() }),
          editorStyle,
        ],
      }),
    });
    view.current = created;
    created.dom.addEventListener('keydown', keepsLetters);
    if (start !== undefined) created.focus();
    return () => created.destroy();
  }, [t]);

  useEffect(() => {
    const { state } = view.current!;
    const wanted = plain(props.value);
    const isNow = state.doc.toString() === wanted;
    const at = isNow ? typed.current.length : typed.current.indexOf(wanted);
    typed.current.splice(0, at + 1);
    if (isNow || at >= 0) return;
    view.current!.dispatch({
      changes: { from: 0, to: state.doc.length, insert: wanted },
      annotations: isOurs.of(true),
    });
  }, [props.value]);
  const { wrong } = props;
  useEffect(() => {
    view.current!.dispatch({ effects: setWrongLines.of(wrong) });
  }, [wrong, t]);

  useImperativeHandle(props.handle, () => ({
    focus: () => view.current?.focus(),
    show: (line) => {
      const { doc } = view.current!.state;
      const at = doc.line(Math.min(Math.max(line, 1), doc.lines)).from;
      view.current!.dispatch({
        selection: { anchor: at },
        effects: EditorView.scrollIntoView(at, { y: 'center' }),
      });
      view.current!.focus();
    },
  }));
  return (
    <div
      ref={host}
      data-testid="editor"
      className="min-h-0 flex-1 overflow-hidden rounded-md border border-line-strong bg-surface focus-within:outline-2 focus-within:outline-offset-1 focus-within:outline-accent"
    />
  );
}

// The texts of the library, by its own English words.
const phrasesOf = (t: (key: string) => string): Record<string, string> => ({
  Find: t('code.find'),
  Replace: t('code.replace_by'),
  next: t('code.next'),
  previous: t('code.previous'),
  all: t('code.all'),
  'match case': t('code.match_case'),
  regexp: t('code.regexp'),
  'by word': t('code.by_word'),
  replace: t('code.replace'),
  'replace all': t('code.replace_all'),
  close: t('code.close'),
  'current match': t('code.current_match'),
  'replaced $ matches': t('code.replaced'),
  'replaced match on line $': t('code.replaced_line'),
  'on line': t('code.on_line'),
  'Go to line': t('code.go_to_line'),
  go: t('code.go'),
  Completions: t('code.suggestions'),
  'Selection deleted': t('code.deleted'),
});

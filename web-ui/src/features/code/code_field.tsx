// A field for a long YAML text, with its mistakes in a list above it. It is a plain text area until the editor has
// been loaded, and in a browser that cannot show it.
import './texts.en';
import {
  useEffect,
  useId,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
  type ReactNode,
  type Ref,
} from 'react';
import { useTranslation } from '../../i18n/use_translation';
import type { EditorHandle, Suggest } from './code_editor';

export interface Mistake {
  line?: number;
  text: ReactNode;
}

type Editor = typeof import('./code_editor').default;
let loaded: Editor | undefined;

// The editor asks which letter is at a point, and has a style sheet of its own.
const canEdit = () =>
  'adoptedStyleSheets' in document &&
  ('caretPositionFromPoint' in document || 'caretRangeFromPoint' in document);

export function CodeField(props: {
  label: string;
  value: string;
  hint?: string;
  error?: string;
  placeholder?: string;
  className: string; // with a height
  mistakes: readonly Mistake[];
  isChecked: boolean; // without mistakes
  suggest: Suggest;
  onChange: (text: string) => void;
  onBlur?: () => void;
  handle?: Ref<{ focus: () => void }>;
}) {
  const { t } = useTranslation();
  const id = useId();
  const [Editor, setEditor] = useState(() => loaded);
  const [start, setStart] = useState<number>();
  const area = useRef<HTMLTextAreaElement>(null);
  const editor = useRef<EditorHandle>(null);
  useEffect(() => {
    if (loaded || !canEdit()) return;
    void import('./code_editor').then((part) => {
      loaded = part.default;
      if (document.activeElement === area.current && area.current) setStart(area.current.selectionStart);
      setEditor(() => loaded);
    }, keepArea);
  }, []);
  const show = (line: number) => {
    if (editor.current) editor.current.show(line);
    else showIn(area.current!, line);
  };
  useImperativeHandle(props.handle, () => ({ focus: () => (editor.current ?? area.current)?.focus() }));
  const { mistakes } = props;
  const wrong = useLines(mistakes);
  const shared = { value: props.value, placeholder: props.placeholder, onBlur: props.onBlur };
  return (
    <div className={'flex min-w-0 flex-col gap-1 ' + props.className}>
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        {Editor ? (
          <span className="font-medium">{props.label}</span>
        ) : (
          <label htmlFor={id} className="font-medium">
            {props.label}
          </label>
        )}
        <span aria-live="polite" className={mistakes.length > 0 ? 'text-bad' : 'text-ok'}>
          {mistakes.length > 0
            ? t('code.mistakes', { count: mistakes.length })
            : props.isChecked && t('code.no_mistakes')}
        </span>
      </div>
      {props.error && (
        <p className="text-xs text-bad" role="alert">
          {props.error}
        </p>
      )}
      {mistakes.length > 0 && <Mistakes mistakes={mistakes} onShow={show} />}
      {Editor ? (
        <Editor
          {...shared}
          label={props.label}
          invalid={props.error !== undefined}
          wrong={wrong}
          start={start}
          suggest={props.suggest}
          onChange={props.onChange}
          handle={editor}
        />
      ) : (
        <textarea
          {...shared}
          ref={area}
          id={id}
          className="input mono min-h-0 flex-1 resize-none"
          spellCheck={false}
          autoComplete="off"
          aria-invalid={props.error !== undefined}
          aria-describedby={id + '-more'}
          onChange={(event) => props.onChange(event.target.value)}
        />
      )}
      <p id={id + '-more'} className="text-xs text-muted">
        {props.hint} {Editor && t('code.keys')}
      </p>
    </div>
  );
}

function Mistakes({ mistakes, onShow }: { mistakes: readonly Mistake[]; onShow: (line: number) => void }) {
  const { t } = useTranslation();
  return (
    <ul
      aria-label={t('code.mistakes_label')}
      className="max-h-36 shrink-0 overflow-y-auto rounded-md bg-bad-soft px-2 py-1 text-bad"
    >
      {mistakes.map(({ line, text }, i) => (
        // oxlint-disable-next-line react/no-array-index-key -- two mistakes may have one text, and an item has no state
        <li key={i} className="flex gap-2 wrap-anywhere">
          {line !== undefined && (
            <button
              type="button"
              className="min-h-6 shrink-0 self-start underline"
              onClick={() => onShow(line)}
            >
              {t('code.line', { line })}
            </button>
          )}
          <span className="py-0.5">{text}</span>
        </li>
      ))}
    </ul>
  );
}

// The lines with a mistake; the same array as long as they are the same.
function useLines(mistakes: readonly Mistake[]): readonly number[] {
  const lines = mistakes.flatMap(({ line }) => (line === undefined ? [] : [line])).join();
  return useMemo(() => (lines === '' ? [] : lines.split(',').map(Number)), [lines]);
}

function showIn(area: HTMLTextAreaElement, line: number) {
  const before = area.value.split('\n').slice(0, line - 1);
  const at = before.reduce((sum, one) => sum + one.length + 1, 0);
  area.focus();
  area.setSelectionRange(at, at);
}

const keepArea = () => {}; // the text area goes on working

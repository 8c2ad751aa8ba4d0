// One line of a log with its colours, links, number and time. React renders each part as text. So HTML in a
// log has no effect.
import './texts.en';
import { Copy } from 'lucide-react';
import { useTranslation } from '../../../i18n/use_translation';
import type { LogLine } from './log_lines';
import { piecesOf } from './log_links';
import { partsOf } from './log_parts';
import { statesOf } from './log_window';

export function LogRow({
  line,
  index,
  top,
  wrap,
  times,
  tone,
  opened,
  onLink,
  onCopy,
  onOpen,
}: {
  line: LogLine;
  index: number;
  top: number;
  wrap: boolean;
  times: boolean;
  tone: string;
  onLink: (line: number) => void;
  onCopy: (lines: LogLine[]) => void;
  opened: boolean; // the earlier states of the line are shown
  onOpen: (line: LogLine) => void;
}) {
  const { t } = useTranslation();
  const parts = partsOf(line);
  const edge =
    line.stream === 'stderr'
      ? 'border-bad'
      : line.stream === 'carillon'
        ? 'border-warn text-warn'
        : 'border-transparent';
  return (
    <div
      data-line={index}
      className={
        'group absolute top-0 left-0 flex min-h-[18px] min-w-full gap-3 px-3 leading-[18px] ' +
        tone +
        (wrap ? ' w-full' : '')
      }
      style={{ transform: `translateY(${top}px)` }}
    >
      <span className="flex min-w-14 shrink-0 items-start gap-1 select-none">
        <button
          type="button"
          tabIndex={-1}
          className="invisible flex h-[18px] cursor-pointer items-center text-muted group-hover:visible"
          aria-label={t('output.copy_line', { n: index + 1 })}
          onClick={() => onCopy([line])}
        >
          <Copy aria-hidden size={12} />
        </button>
        <button
          type="button"
          tabIndex={-1}
          className="flex-1 cursor-pointer text-right text-muted"
          aria-label={t('output.link_to', { n: index + 1 })}
          onClick={() => onLink(index)}
        >
          {index + 1}
        </button>
      </span>
      {times && <span className="shrink-0 text-muted">{line.t ? line.t.slice(11, 23) : '–'}</span>}
      <span
        data-stream={line.stream}
        className={
          'border-l-2 pl-2 [tab-size:8] ' +
          edge +
          (wrap ? ' min-w-0 break-all whitespace-pre-wrap' : ' whitespace-pre')
        }
      >
        {parts.map((part, j) =>
          part.style ? (
            <span key={j} className={part.style}>
              <Linked text={part.text} />
            </span>
          ) : (
            <Linked key={j} text={part.text} />
          ),
        )}
        {line.earlierCount > 0 && (
          <button
            type="button"
            className="ml-3 cursor-pointer text-muted underline decoration-dotted select-none"
            aria-expanded={opened}
            title={t('output.earlier_explain')}
            onClick={() => onOpen(line)}
          >
            {t('output.earlier', { count: line.earlierCount })}
          </button>
        )}
        {opened && <States line={line} />}
      </span>
    </div>
  );
}

// The states that a line had before the program wrote over them, such as those of a progress bar.
function States({ line }: { line: LogLine }) {
  const { t } = useTranslation();
  const { states, dropped } = statesOf(line);
  return (
    <>
      {dropped > 0 && (
        <span className="block text-muted">{t('output.earlier_dropped', { count: dropped })}</span>
      )}
      {states.map((state, i) => (
        <span key={i} className="block text-muted">
          {state}
        </span>
      ))}
    </>
  );
}

function Linked({ text }: { text: string }) {
  return piecesOf(text).map((piece, i) =>
    piece.href === undefined ? (
      piece.text
    ) : (
      <a key={i} href={piece.href} target="_blank" rel="noopener noreferrer" className="underline">
        {piece.text}
      </a>
    ),
  );
}

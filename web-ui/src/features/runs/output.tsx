// What a run has written: ANSI colours, search, wrapping, download. Text stays text: anser only splits it
// into parts, and React writes each as text.
import Anser from 'anser';
import { ChevronDown, ChevronUp, Download, WrapText } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { send } from '../../api/client';
import { setPreferences, usePreferences } from '../../shared/preferences';
import { toastError } from '../../shared/toasts';
import { explain } from '../../shared/ui';

export interface Part { text: string; style: string }

const ESCAPE = String.fromCharCode(27);
// Escapes that are no colours (moving the cursor, titles) say nothing in a text.
const OTHER_ESCAPES = new RegExp(ESCAPE + '(?:\\[[0-9;?]*[A-LN-Za-ln-z]|\\][^\\u0007]*\\u0007)', 'g');

const COLOURS: Record<string, number> = {
  black: 0, red: 1, green: 2, yellow: 3, blue: 4, magenta: 5, cyan: 6, white: 7,
};

// Lines of parts; a colour goes on over the end of a line.
export function linesOf(text: string): Part[][] {
  const lines: Part[][] = [[]];
  const clean = text.replace(/\r\n/g, '\n').replace(OTHER_ESCAPES, '');
  for (const entry of Anser.ansiToJson(clean, { use_classes: true, remove_empty: true })) {
    const colour = COLOURS[(entry.fg ?? '').replace('ansi-', '').replace('bright-', '')];
    const style = [
      colour === undefined ? '' : 'ansi-' + colour,
      entry.decorations.includes('bold') ? 'font-bold' : '',
      entry.decorations.includes('underline') ? 'underline' : '',
      entry.decorations.includes('italic') ? 'italic' : '',
    ].filter(Boolean).join(' ');
    entry.content.split('\n').forEach((piece, i) => {
      if (i > 0) lines.push([]);
      if (piece) lines[lines.length - 1]!.push({ text: piece, style });
    });
  }
  if (lines.length > 1 && lines[lines.length - 1]!.length === 0) lines.pop();
  return lines;
}

export function Output(props: {
  runId: string; attempt: number | undefined; output: string; truncated: boolean;
  search: string; onSearch: (text: string) => void;
}) {
  const { t } = useTranslation();
  const { wrap } = usePreferences();
  const lines = useMemo(() => linesOf(props.output), [props.output]);
  const wanted = props.search.toLowerCase();
  const hits = useMemo(
    () => wanted === '' ? [] : lines.flatMap((line, i) =>
      line.map((part) => part.text).join('').toLowerCase().includes(wanted) ? [i] : []),
    [lines, wanted],
  );
  const [at, setAt] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const current = hits[Math.min(at, hits.length - 1)];
  useEffect(() => {
    if (current !== undefined) box.current?.querySelector(`[data-line="${current}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  // A log is read from its end.
  useEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [props.output]);
  const step = (by: number) => setAt((before) => (before + by + hits.length) % Math.max(1, hits.length));
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 border-b p-2">
        <input type="search" className="input w-full sm:w-64" aria-label={t('output.search')} placeholder={t('output.search')}
          value={props.search} onChange={(event) => { setAt(0); props.onSearch(event.target.value); }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            step(event.shiftKey ? -1 : 1);
          }} />
        {wanted && (
          <>
            <span className="text-muted" role="status">{t('output.hits', { at: hits.length ? Math.min(at, hits.length - 1) + 1 : 0, of: hits.length })}</span>
            <button type="button" className="button button-icon" aria-label={t('output.previous')} disabled={hits.length === 0} onClick={() => step(-1)}><ChevronUp aria-hidden size={15} /></button>
            <button type="button" className="button button-icon" aria-label={t('output.next')} disabled={hits.length === 0} onClick={() => step(1)}><ChevronDown aria-hidden size={15} /></button>
          </>
        )}
        <span className="flex-1" />
        <button type="button" className="button" aria-pressed={wrap} onClick={() => setPreferences({ wrap: !wrap })}>
          <WrapText aria-hidden size={15} />{t('output.wrap')}
        </button>
        <DownloadButton runId={props.runId} attempt={props.attempt} />
      </div>
      {props.truncated && <p className="border-b bg-warn-soft px-4 py-2 text-warn">{t('output.truncated')}</p>}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls has to be reachable */}
      <div ref={box} role="log" aria-live="off" aria-label={t('run.output')} tabIndex={0}
        className="mono max-h-[60dvh] overflow-auto bg-code py-2">
        {lines.map((line, i) => (
          <div key={i} data-line={i} className={'flex gap-4 px-3 ' + (i === current ? 'bg-accent-soft' : hits.includes(i) ? 'bg-raised' : '')}>
            <span aria-hidden className="w-10 shrink-0 text-right text-muted select-none">{i + 1}</span>
            <span className={wrap ? 'min-w-0 break-all whitespace-pre-wrap' : 'whitespace-pre'}>
              {line.map((part, j) => part.style ? <span key={j} className={part.style}>{part.text}</span> : part.text)}
            </span>
          </div>
        ))}
      </div>
    </>
  );
}

function DownloadButton(props: { runId: string; attempt: number | undefined }) {
  const { t } = useTranslation();
  const download = async () => {
    try {
      const response = await send('GET', `runs/${encodeURIComponent(props.runId)}/logs`, {
        query: { attempt: props.attempt }, headers: { Accept: 'text/plain' },
      });
      const url = URL.createObjectURL(await response.blob());
      const link = document.createElement('a');
      link.href = url;
      link.download = `${props.runId}${props.attempt ? '-' + props.attempt : ''}.log`;
      link.click();
      URL.revokeObjectURL(url);
    } catch (error) {
      toastError(t('output.download_failed'), explain(error, t));
    }
  };
  return <button type="button" className="button" onClick={() => void download()}><Download aria-hidden size={15} />{t('output.download')}</button>;
}

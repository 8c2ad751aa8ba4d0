// Live output of a run: only the visible lines are in the document. ANSI colours, links, search, levels,
// times, wrapping, copying, download. Text stays text: anser only splits it into parts, and React writes
// each as text.
import Anser from 'anser';
import {
  ArrowDownToLine,
  ChevronDown,
  ChevronUp,
  Clock,
  Copy,
  Download,
  Maximize2,
  Play,
  WrapText,
} from 'lucide-react';
import { useEffect, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { send } from '../../../api/client';
import { useTranslation } from '../../../i18n/use_translation';
import { copyText } from '../../../lib/clipboard';
import { setPreferences, usePreferences } from '../../../lib/preferences';
import { toast, toastError } from '../../../ui/toasts';
import { explain } from '../../../ui/ui';
import { useLog } from './log_feed';
import { LEVELS, countFrom, isAtLeast, type Level } from './log_levels';
import type { LogLine } from './log_lines';
import { piecesOf } from './log_links';
import { ROW_PX, TAB, heightsOf, linesInSight } from './log_window';

export interface Part {
  text: string;
  style: string;
}

const ESCAPE = String.fromCharCode(27);
// Escapes other than colours (cursor, titles) mean nothing in a text and are removed. The
// pattern never extends beyond the next escape; otherwise each unterminated escape would scan
// the whole line.
const OTHER_ESCAPES = new RegExp(ESCAPE + '(?:\\[[0-9;?]*[A-LN-Za-ln-z]|\\][^\\u0007\\u001b]*\\u0007)', 'g');

const COLOURS: Record<string, number> = {
  black: 0,
  red: 1,
  green: 2,
  yellow: 3,
  blue: 4,
  magenta: 5,
  cyan: 6,
  white: 7,
};

// A line in its colours.
export function partsOf(line: string, colours = ''): Part[] {
  const clean = colours + line.replace(/\r/g, '').replace(OTHER_ESCAPES, '');
  return Anser.ansiToJson(clean, { use_classes: true, remove_empty: true }).map((entry) => {
    const colour = COLOURS[(entry.fg ?? '').replace('ansi-', '').replace('bright-', '')];
    const style = [
      colour === undefined ? '' : 'ansi-' + colour,
      entry.decorations.includes('bold') ? 'font-bold' : '',
      entry.decorations.includes('underline') ? 'underline' : '',
      entry.decorations.includes('italic') ? 'italic' : '',
    ]
      .filter(Boolean)
      .join(' ');
    return { text: entry.content, style };
  });
}

// As a person would type it.
const plainOf = (line: LogLine) =>
  partsOf(line.text)
    .map((part) => part.text)
    .join('');

const NEAR_END_PX = 40;
const SAMPLE = '0'.repeat(100);

export function Output(props: {
  runId: string;
  attempt: number;
  open: boolean;
  search: string;
  level: Level | undefined;
  onSearch: (text: string) => void;
  onLevel: (level: Level | undefined) => void;
  onLink: (hash: string) => void;
}) {
  const { t } = useTranslation();
  const { wrap, live } = usePreferences();
  // The log of an ended attempt does not change any more, so it is read to its end even while
  // updates are paused.
  const log = useLog(props.runId, props.attempt, live || !props.open);
  const paused = !live && props.open && log.end === null;
  const { level } = props;
  // Indexes in the log of the lines that are shown; null: all.
  const places = useMemo(
    () => (level === undefined ? null : log.lines.flatMap((line, i) => (isAtLeast(line, level) ? [i] : []))),
    [log, level],
  );
  const lines = useMemo(
    () => (places === null ? log.lines : places.map((i) => log.lines[i]!)),
    [log, places],
  );
  const placeOf = (line: number) => places?.[line] ?? line;
  const wanted = props.search.toLowerCase();
  const hits = useMemo(
    () =>
      wanted === '' ? [] : lines.flatMap((line, i) => (line.text.toLowerCase().includes(wanted) ? [i] : [])),
    // oxlint-disable-next-line react/exhaustive-deps -- each new sight of the log has other lines
    [log, level, wanted],
  );
  const [at, setAt] = useState(0);
  const [times, setTimes] = useState(false);
  const [full, setFull] = useState(false);
  const [following, setFollowing] = useState(() => location.hash === '');
  const [linked, setLinked] = useState(() => Number(/^#L(\d+)$/.exec(location.hash)?.[1] ?? 0) - 1);
  const box = useRef<HTMLDivElement>(null);
  const sample = useRef<HTMLSpanElement>(null);
  const [sight, setSight] = useState({ top: 0, height: 600, columns: 80 });
  const heights = useMemo(
    () => heightsOf(lines, wrap ? sight.columns : 0),
    // oxlint-disable-next-line react/exhaustive-deps -- each new sight of the log has other lines
    [log, level, wrap, sight.columns],
  );
  const scrollTo = (top: number) => {
    if (box.current) box.current.scrollTop = top;
  };
  const current = hits[Math.min(at, hits.length - 1)];
  const goTo = (line: number) => {
    setFollowing(false);
    scrollTo(heights.topOf(line) - sight.height / 2);
  };
  // Measures the visible part and the width of a character.
  useEffect(() => {
    const look = () => {
      const letter = sample.current!.getBoundingClientRect().width / SAMPLE.length;
      const room =
        box.current!.getBoundingClientRect().right - sample.current!.getBoundingClientRect().left - ROW_PX;
      setSight((before) => ({
        ...before,
        height: box.current!.clientHeight,
        columns: Math.max(10, Math.floor(room / (letter || 8))),
      }));
    };
    const observer = new ResizeObserver(look);
    observer.observe(box.current!);
    look();
    return () => observer.disconnect();
  }, [times]);
  // Before the browser paints: otherwise the box would be empty until the scroll event arrives,
  // which takes long while many lines come.
  useLayoutEffect(() => {
    if (!following || !live || lines.length === 0) return;
    scrollTo(heights.total);
    setSight((before) => ({ ...before, top: box.current!.scrollTop }));
    // oxlint-disable-next-line react/exhaustive-deps -- with each sight of the log
  }, [log, following, live]);
  useEffect(() => {
    if (current !== undefined) goTo(current);
    // oxlint-disable-next-line react/exhaustive-deps -- only when the hit changes
  }, [current]);
  const arrived = linked >= 0 && linked < log.lines.length;
  useEffect(() => {
    if (!arrived) return;
    const shown = places === null ? linked : places.findIndex((place) => place >= linked);
    goTo(shown < 0 ? heights.count : shown);
    // oxlint-disable-next-line react/exhaustive-deps -- once, when the line is there
  }, [arrived]);
  // Scrolling up stops following the log; scrolling to the end starts it again.
  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = box.current!;
    const near = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    if (near !== following && (near ? scrollTop > sight.top : scrollTop < sight.top)) setFollowing(near);
    setSight((before) => ({ ...before, top: scrollTop, height: clientHeight }));
  };
  const step = (by: number) => setAt((before) => (before + by + hits.length) % Math.max(1, hits.length));
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act: Record<string, () => void> = {
      c: () => copy(linked >= 0 && linked < log.lines.length ? [log.lines[linked]!] : lines),
      w: () => setPreferences({ wrap: !wrap }),
      f: () => setFull(!full),
      n: () => step(1),
      N: () => step(-1),
      Escape: () => setFull(false),
      Home: () => goTo(0),
      End: () => setFollowing(true),
    };
    const chosen = act[event.key];
    if (!chosen) return;
    event.preventDefault();
    event.stopPropagation();
    chosen();
  };
  const copy = (these: readonly LogLine[]) => {
    void copyText(these.map(plainOf).join('\n') + (these.length > 1 ? '\n' : '')).then((done) => {
      if (done) toast(t('output.copied', { n: these.length }));
      else toastError(t('output.copy_failed'), '');
    });
  };
  const link = (line: number) => {
    props.onLink('L' + (line + 1));
    setLinked(line);
  };
  return (
    <div className={full ? 'fixed inset-0 z-40 flex flex-col bg-surface' : ''}>
      <div className="flex flex-wrap items-center gap-2 border-b p-2">
        <input
          type="search"
          className="input w-full sm:w-48"
          aria-label={t('output.search')}
          placeholder={t('output.search')}
          value={props.search}
          onChange={(event) => {
            setAt(0);
            props.onSearch(event.target.value);
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            step(event.shiftKey ? -1 : 1);
          }}
        />
        {wanted && (
          <>
            <span className="text-muted" role="status">
              {t('output.hits', { at: hits.length ? Math.min(at, hits.length - 1) + 1 : 0, of: hits.length })}
            </span>
            <button
              type="button"
              className="button button-icon"
              aria-label={t('output.previous')}
              disabled={hits.length === 0}
              onClick={() => step(-1)}
            >
              <ChevronUp aria-hidden size={15} />
            </button>
            <button
              type="button"
              className="button button-icon"
              aria-label={t('output.next')}
              disabled={hits.length === 0}
              onClick={() => step(1)}
            >
              <ChevronDown aria-hidden size={15} />
            </button>
          </>
        )}
        <LevelFilter
          lines={log.lines}
          sight={log}
          level={level}
          shown={lines.length}
          onChange={props.onLevel}
        />
        <span className="flex-1" />
        {props.open && !paused && (
          <button
            type="button"
            className="button"
            aria-pressed={following}
            onClick={() => setFollowing(!following)}
          >
            <ArrowDownToLine aria-hidden size={15} />
            {t('output.follow')}
          </button>
        )}
        <button type="button" className="button" aria-pressed={times} onClick={() => setTimes(!times)}>
          <Clock aria-hidden size={15} />
          {t('output.times')}
        </button>
        <button
          type="button"
          className="button"
          aria-pressed={wrap}
          onClick={() => setPreferences({ wrap: !wrap })}
        >
          <WrapText aria-hidden size={15} />
          {t('output.wrap')}
        </button>
        <button
          type="button"
          className="button button-icon"
          aria-pressed={full}
          aria-label={t('output.full')}
          onClick={() => setFull(!full)}
        >
          <Maximize2 aria-hidden size={15} />
        </button>
        <button
          type="button"
          className="button button-icon"
          aria-label={t('output.copy')}
          title={t('output.copy')}
          disabled={lines.length === 0}
          onClick={() => copy(lines)}
        >
          <Copy aria-hidden size={15} />
        </button>
        <DownloadButton runId={props.runId} attempt={props.attempt} />
      </div>
      {log.error && (
        <p className="border-b bg-bad-soft px-4 py-2 text-bad" role="alert">
          {explain(log.error, t)}
        </p>
      )}
      {paused && (
        <p
          role="status"
          className="flex flex-wrap items-center gap-3 border-b bg-warn-soft px-4 py-2 text-warn"
        >
          {t('output.paused')}
          <button type="button" className="button" onClick={() => setPreferences({ live: true })}>
            <Play aria-hidden size={15} />
            {t('live.resume')}
          </button>
        </p>
      )}
      {log.end && !log.end.complete && (
        <p className="border-b bg-warn-soft px-4 py-2 text-warn">{t('output.incomplete')}</p>
      )}
      <p className="sr-only" role="status">
        {!paused &&
          t(log.end ? 'output.said_end' : log.waiting ? 'output.said_waiting' : 'output.said_live', {
            count: log.lines.length,
          })}
      </p>
      {lines.length === 0 && !(paused && log.lines.length === 0) && (
        <p className="p-8 text-center text-muted">
          {t(log.lines.length > 0 ? 'output.level_none' : log.end ? 'output.none' : 'output.nothing_yet')}
        </p>
      )}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- its label describes its keys */}
      <div
        ref={box}
        role="log"
        aria-live="off"
        aria-label={t('run.output')}
        aria-describedby="log-keys"
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable area must be reachable by keyboard
        tabIndex={0}
        onScroll={onScroll}
        onKeyDown={onKey}
        className={
          'mono overflow-auto bg-code py-2 ' +
          (lines.length === 0 ? 'hidden ' : '') +
          (full ? 'min-h-0 flex-1' : 'max-h-[60dvh]')
        }
      >
        <div className="relative" style={{ height: heights.total }}>
          {linesInSight(heights, sight.top, sight.height).map((line) => (
            <Line
              key={placeOf(line)}
              line={lines[line]!}
              index={placeOf(line)}
              top={heights.topOf(line)}
              wrap={wrap}
              times={times}
              onLink={link}
              onCopy={copy}
              tone={
                line === current || placeOf(line) === linked
                  ? 'bg-accent-soft'
                  : hits.length > 0 && lines[line]!.text.toLowerCase().includes(wanted)
                    ? 'bg-raised'
                    : ''
              }
            />
          ))}
          <div aria-hidden className="invisible absolute top-0 left-0 flex gap-3 px-3">
            <span className="min-w-14 shrink-0" />
            {times && <span className="shrink-0">00:00:00.000</span>}
            <span ref={sample} className="ml-0.5 pl-2 whitespace-pre">
              {SAMPLE}
            </span>
          </div>
        </div>
      </div>
      <p id="log-keys" className="sr-only">
        {t('output.keys')}
      </p>
    </div>
  );
}

// Shown only if lines have levels. Counts the lines that have arrived, and says so.
function LevelFilter({
  lines,
  sight,
  level,
  shown,
  onChange,
}: {
  lines: readonly LogLine[];
  sight: object;
  level: Level | undefined;
  shown: number;
  onChange: (level: Level | undefined) => void;
}) {
  const { t } = useTranslation();
  // oxlint-disable-next-line react/exhaustive-deps -- each new sight of the log has other lines
  const counts = useMemo(() => countFrom(lines), [sight]);
  if (level === undefined && counts.DEBUG === 0) return null;
  return (
    <>
      <select
        className="input w-auto max-w-full"
        aria-label={t('output.level')}
        title={t('output.level_counts', { n: lines.length })}
        value={level ?? ''}
        onChange={(event) => onChange((event.target.value || undefined) as Level | undefined)}
      >
        <option value="">{t('output.level_all')}</option>
        {LEVELS.map((one) => (
          <option key={one} value={one}>
            {t(`output.level_${one}`)} ({counts[one]})
          </option>
        ))}
      </select>
      {level && (
        <span className="text-muted" role="status">
          {t('output.level_shown', { shown, n: lines.length })}
        </span>
      )}
    </>
  );
}

function Line({
  line,
  index,
  top,
  wrap,
  times,
  tone,
  onLink,
  onCopy,
}: {
  line: LogLine;
  index: number;
  top: number;
  wrap: boolean;
  times: boolean;
  tone: string;
  onLink: (line: number) => void;
  onCopy: (lines: LogLine[]) => void;
}) {
  const { t } = useTranslation();
  const parts = partsOf(line.text.replaceAll('\t', TAB), line.colours);
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
          'border-l-2 pl-2 ' + edge + (wrap ? ' min-w-0 break-all whitespace-pre-wrap' : ' whitespace-pre')
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
      </span>
    </div>
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

function DownloadButton(props: { runId: string; attempt: number }) {
  const { t } = useTranslation();
  const download = async () => {
    try {
      const response = await send('GET', `runs/${encodeURIComponent(props.runId)}/logs`, {
        query: { attempt: props.attempt },
        headers: { Accept: 'text/plain' },
      });
      const url = URL.createObjectURL(await response.blob());
      const link = document.createElement('a');
      link.href = url;
      link.download = `${props.runId}-${props.attempt}.log`;
      link.click();
      URL.revokeObjectURL(url);
    } catch (error) {
      toastError(t('output.download_failed'), explain(error, t));
    }
  };
  return (
    <button type="button" className="button" onClick={() => void download()}>
      <Download aria-hidden size={15} />
      <span className="max-sm:sr-only">{t('output.download')}</span>
    </button>
  );
}

// Live output of a run. Users can follow it, search it, filter it by level, wrap its lines and copy it. Only
// the visible lines are in the document.
import './texts.en';
import { ArrowDownToLine, Clock, Copy, Maximize2, Play, WrapText } from 'lucide-react';
import { useEffect, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { useTranslation } from '../../../i18n/use_translation';
import { copyText } from '../../../lib/clipboard';
import { setPreferences, usePreferences } from '../../../lib/preferences';
import { toast, toastError } from '../../../ui/toasts';
import { explain } from '../../../ui/ui';
import { DownloadButton } from './download_button';
import { LevelFilter } from './level_filter';
import { useLog } from './log_feed';
import { isAtLeast, type Level } from './log_levels';
import type { LogLine } from './log_lines';
import { LogRow } from './log_row';
import { LogSearch } from './log_search';
import { ROW_PX, heightsOf, visibleLines } from './log_window';

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
  // The log of an attempt that has ended does not change any more. So it is read to its end even if updates
  // are paused.
  const log = useLog(props.runId, props.attempt, live || !props.open);
  const paused = !live && props.open && log.end === null;
  const { level } = props;
  // Indexes in the log of the lines that the filter shows. null: the filter shows all lines.
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
    // oxlint-disable-next-line react/exhaustive-deps -- `lines` may grow in place; `log` changes with it
    [log, level, wanted],
  );
  const [at, setAt] = useState(0);
  const [times, setTimes] = useState(false);
  const [full, setFull] = useState(false);
  const [opened, setOpened] = useState<ReadonlySet<LogLine>>(new Set());
  const [following, setFollowing] = useState(() => location.hash === '');
  const [linked, setLinked] = useState(() => Number(/^#L(\d+)$/.exec(location.hash)?.[1] ?? 0) - 1);
  const box = useRef<HTMLDivElement>(null);
  const sample = useRef<HTMLSpanElement>(null);
  const [sight, setSight] = useState({ top: 0, height: 600, columns: 80 });
  const heights = useMemo(
    () => heightsOf(lines, wrap ? sight.columns : 0, opened),
    // oxlint-disable-next-line react/exhaustive-deps -- `lines` may grow in place; `log` changes with it
    [log, level, wrap, sight.columns, opened],
  );
  const scrollTo = (top: number) => {
    if (box.current) box.current.scrollTop = top;
  };
  const current = hits[Math.min(at, hits.length - 1)];
  const goTo = (line: number) => {
    setFollowing(false);
    scrollTo(heights.topOf(line) - sight.height / 2);
  };
  // Measures the visible area, and the width of a character.
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
  // Scrolls to the end before the browser paints. Otherwise the box would be empty until the scroll event.
  // This event comes late while many lines arrive.
  useLayoutEffect(() => {
    if (!following || !live || lines.length === 0) return;
    scrollTo(heights.total);
    setSight((before) => ({ ...before, top: box.current!.scrollTop }));
    // oxlint-disable-next-line react/exhaustive-deps -- must run for each change of the log
  }, [log, following, live]);
  useEffect(() => {
    if (current !== undefined) goTo(current);
    // oxlint-disable-next-line react/exhaustive-deps -- must run only when the hit changes
  }, [current]);
  const arrived = linked >= 0 && linked < log.lines.length;
  useEffect(() => {
    if (!arrived) return;
    const shown = places === null ? linked : places.findIndex((place) => place >= linked);
    goTo(shown < 0 ? heights.count : shown);
    // oxlint-disable-next-line react/exhaustive-deps -- must run once, when the linked line has arrived
  }, [arrived]);
  // If the user scrolls up, the page stops following the log. If the user scrolls to the end, the page
  // follows it again.
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
    void copyText(these.map((line) => line.text).join('\n') + (these.length > 1 ? '\n' : '')).then((done) => {
      if (done) toast(t('output.copied', { n: these.length }));
      else toastError(t('output.copy_failed'), '');
    });
  };
  const toggle = (line: LogLine) =>
    setOpened(
      (before) => new Set(before.has(line) ? [...before].filter((one) => one !== line) : [...before, line]),
    );
  const link = (line: number) => {
    props.onLink('L' + (line + 1));
    setLinked(line);
  };
  return (
    <div className={full ? 'fixed inset-0 z-40 flex flex-col bg-surface' : ''}>
      <div className="flex flex-wrap items-center gap-2 border-b p-2">
        <LogSearch
          text={props.search}
          at={hits.length ? Math.min(at, hits.length - 1) + 1 : 0}
          of={hits.length}
          onStep={step}
          onChange={(text) => {
            setAt(0);
            props.onSearch(text);
          }}
        />
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
          {visibleLines(heights, sight.top, sight.height).map((line) => (
            <LogRow
              key={placeOf(line)}
              line={lines[line]!}
              index={placeOf(line)}
              top={heights.topOf(line)}
              wrap={wrap}
              times={times}
              onLink={link}
              onCopy={copy}
              opened={opened.has(lines[line]!)}
              onOpen={toggle}
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

// Reads server-sent events. Uses fetch, because EventSource cannot send the Authorization header.
import { send } from './client';
import type { Query } from './url';

// The server sends something every 15 s. If nothing arrives for the time below, the connection is dead.
const SILENT_MS = 40_000;

export interface ServerEvent {
  name: string;
  id: string;
  data: string;
}

// Returns the complete events in `buffer`, and the text after the last complete event.
export function parseEvents(buffer: string): { events: ServerEvent[]; rest: string } {
  const pieces = buffer.split('\n\n');
  const rest = pieces.pop() ?? '';
  const events = pieces.flatMap((piece) => {
    const event = { name: 'message', id: '', data: '' };
    for (const line of piece.split('\n')) {
      if (line.startsWith('data: ')) event.data += line.slice(6);
      else if (line.startsWith('id: ')) event.id = line.slice(4);
      else if (line.startsWith('event: ')) event.name = line.slice(7);
    }
    return event.data === '' ? [] : [event];
  });
  return { events, rest };
}

export interface StreamListener {
  opened: () => void;
  // Called for each piece of the response, even if the piece completes no event.
  take: (events: ServerEvent[]) => void;
}

// Listens to `path` until the response ends, beginning after the event `lastId`. Throws if the request is
// refused, if the response is cut off or silent for too long, or when `stopped` is aborted.
export async function listen(
  path: string,
  from: { query?: Query; lastId: string },
  stopped: AbortSignal,
  listener: StreamListener,
): Promise<void> {
  const cut = new AbortController();
  const stop = () => cut.abort();
  let silence = setTimeout(stop, SILENT_MS);
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(stop, SILENT_MS);
  };
  stopped.addEventListener('abort', stop);
  try {
    const headers: Record<string, string> = { Accept: 'text/event-stream' };
    if (from.lastId) headers['Last-Event-ID'] = from.lastId;
    const response = await send('GET', path, { query: from.query, headers, signal: cut.signal });
    heard();
    listener.opened();
    await readEvents(response, (events) => {
      heard();
      listener.take(events);
    });
  } finally {
    clearTimeout(silence);
    stopped.removeEventListener('abort', stop);
  }
}

async function readEvents(response: Response, take: (events: ServerEvent[]) => void): Promise<void> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const { events, rest } = parseEvents(buffer + value);
    buffer = rest;
    take(events);
  }
}

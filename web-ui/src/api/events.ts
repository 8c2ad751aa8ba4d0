// Server-sent events, read through fetch so that the Authorization header goes with them.
export interface ServerEvent { name: string; id: string; data: string }

// The whole events of `buffer`, and what is left of it.
export function cutEvents(buffer: string): { events: ServerEvent[]; rest: string } {
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

// Calls `take` with each piece's events until the answer ends.
export async function readEvents(response: Response, take: (events: ServerEvent[]) => void): Promise<void> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const { events, rest } = cutEvents(buffer + value);
    buffer = rest;
    take(events);
  }
}

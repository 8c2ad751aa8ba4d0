// A browser has six connections to a server, over all its tabs: only a tab that is seen holds one open.
export interface Held {
  start(): void;
  stop(): void;
}

// Holds it whenever this tab is seen, until what it returns is called.
export function whileSeen(held: Held): () => void {
  const follow = () => (document.hidden ? held.stop() : held.start());
  follow();
  document.addEventListener('visibilitychange', follow);
  return () => {
    document.removeEventListener('visibilitychange', follow);
    held.stop();
  };
}

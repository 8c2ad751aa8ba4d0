// Keeps connections open only while the tab is visible, because a browser has six connections to a
// server, over all its tabs.
export interface Held {
  start(): void;
  stop(): void;
}

// Starts `held` whenever this tab is visible, until the returned function is called.
export function whileSeen(held: Held): () => void {
  const follow = () => (document.hidden ? held.stop() : held.start());
  follow();
  document.addEventListener('visibilitychange', follow);
  return () => {
    document.removeEventListener('visibilitychange', follow);
    held.stop();
  };
}

// Keeps connections open only while the tab is visible. A browser allows six connections to a server over all
// its tabs.
export interface Held {
  start(): void;
  stop(): void;
}

// Starts `held` whenever this tab becomes visible, and stops it when the tab is hidden. The returned function
// ends this.
export function whileSeen(held: Held): () => void {
  const follow = () => (document.hidden ? held.stop() : held.start());
  follow();
  document.addEventListener('visibilitychange', follow);
  return () => {
    document.removeEventListener('visibilitychange', follow);
    held.stop();
  };
}

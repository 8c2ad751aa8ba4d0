// Short messages about what was just done. Errors stay until they are closed.
import { Toast } from '@base-ui/react/toast';

export const manager = Toast.createToastManager();
const DONE_MS = 5000;

// The manager keeps nothing for a list that is still being fetched.
let shown: () => void;
const list = new Promise<void>((resolve) => {
  shown = resolve;
});
export const listIsShown = () => shown();
const add = (one: Parameters<typeof manager.add>[0]) => void list.then(() => manager.add(one));

export function toast(title: string, description?: string): void {
  add({ title, description, type: 'done', timeout: DONE_MS });
}
export function toastError(title: string, description?: string): void {
  add({ title, description, type: 'error', timeout: 0, priority: 'high' });
}

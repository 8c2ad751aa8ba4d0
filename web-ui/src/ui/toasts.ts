// Short messages about completed actions. Errors stay until they are closed.
import { Toast } from '@base-ui/react/toast';

export const manager = Toast.createToastManager();
const DONE_MS = 5000;

// Toasts wait for the list to be loaded, because the manager does not keep them.
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

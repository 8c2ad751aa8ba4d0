// Short messages about completed actions. An error stays until the user closes it.
import { Toast } from '@base-ui/react/toast';

export const manager = Toast.createToastManager();
const DONE_MS = 5000;

// Toasts wait here until the list is loaded, because the manager of the library does not keep them.
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

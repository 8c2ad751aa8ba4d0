// Short messages about what was just done. Errors stay until they are closed.
import { Toast } from '@base-ui/react/toast';

export const manager = Toast.createToastManager();
const DONE_MS = 5000;

export function toast(title: string, description?: string): void {
  manager.add({ title, description, type: 'done', timeout: DONE_MS });
}
export function toastError(title: string, description?: string): void {
  manager.add({ title, description, type: 'error', timeout: 0, priority: 'high' });
}

// Converts between the container of a definition and the fields of the form. Pure.
import type { Definition } from '../form/definition';

export const NETWORKS = ['bridge', 'none'] as const;
export const PULLS = ['missing', 'always', 'never'] as const;

export const CONTAINER_DEFAULTS = {
  container_image: '',
  container_command: '',
  container_args: '',
  container_network: 'bridge',
  container_read_only: false,
  container_user: '',
  container_pull: 'missing',
};
export type ContainerValues = typeof CONTAINER_DEFAULTS;

const IMAGE = /^[A-Za-z0-9][A-Za-z0-9._/:@+-]*$/;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

export const isImage = (text: string): boolean => IMAGE.test(text.trim());

export function containerValuesOf(container: unknown): Partial<ContainerValues> {
  if (!isObject(container)) return {};
  return {
    container_image: String(container.image ?? ''),
    container_command: textsOf(container.command).join('\n'),
    container_args: textsOf(container.args).join('\n'),
    container_network: String(container.network ?? CONTAINER_DEFAULTS.container_network),
    container_read_only: container.read_only === true,
    container_user: String(container.user ?? ''),
    container_pull: String(container.pull ?? CONTAINER_DEFAULTS.container_pull),
  };
}

// A text area shows every line break as \n.
const shown = (text: string) => text.replace(/\r\n?/g, '\n');

// One entry a line. `before` stays as it is if the field shows it: an entry may contain a line break.
function linesFrom(field: string, before: string[]): string[] {
  if (shown(before.join('\n')) === shown(field)) return before;
  const text = field.replace(/\n$/, '');
  return text === '' ? [] : text.split('\n');
}

export function containerFrom(values: ContainerValues, kept: unknown): Definition {
  const before = isObject(kept) ? kept : {};
  return {
    image: values.container_image.trim(),
    command: linesFrom(values.container_command, textsOf(before.command)),
    args: linesFrom(values.container_args, textsOf(before.args)),
    network: values.container_network,
    read_only: values.container_read_only,
    user: values.container_user.trim(),
    pull: values.container_pull,
  };
}

// The field that shows the server's error at /container/`part`.
export function containerFieldOf(part: string | undefined): keyof ContainerValues {
  const field = `container_${part}`;
  return field in CONTAINER_DEFAULTS ? (field as keyof ContainerValues) : 'container_image';
}

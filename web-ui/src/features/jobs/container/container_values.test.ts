import { describe, expect, it } from 'vitest';

import {
  CONTAINER_DEFAULTS,
  containerFieldOf,
  containerFrom,
  containerValuesOf,
  isImage,
} from './container_values';

describe('container values', () => {
  const container = {
    image: 'alpine:3.20',
    command: ['sh', '-c'],
    args: ['echo one\necho two'],
    network: 'none',
    read_only: true,
    user: '1000',
    pull: 'never',
  };

  it('shows and returns a container without a change, also with a line break in an argument', () => {
    const values = { ...CONTAINER_DEFAULTS, ...containerValuesOf(container) };
    expect(values.container_command).toBe('sh\n-c');
    expect(containerFrom(values, container)).toEqual(container);
  });

  it('reads one entry a line', () => {
    const values = { ...CONTAINER_DEFAULTS, container_image: ' busybox ', container_args: 'date\n-u\n' };
    expect(containerFrom(values, undefined)).toEqual({
      image: 'busybox',
      command: [],
      args: ['date', '-u'],
      network: 'bridge',
      read_only: false,
      user: '',
      pull: 'missing',
    });
  });

  it('knows names of images, and the field of an error', () => {
    expect(['alpine', 'registry.example:5000/a/b@sha256:0f'].every(isImage)).toBe(true);
    expect(['', '--privileged', 'a b'].some(isImage)).toBe(false);
    expect(containerFieldOf('args')).toBe('container_args');
    expect(containerFieldOf(undefined)).toBe('container_image');
  });
});

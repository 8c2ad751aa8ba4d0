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

  it('the form returns a container unchanged, even with a line break in an argument', () => {
    const values = { ...CONTAINER_DEFAULTS, ...containerValuesOf(container) };
    expect(values.container_command).toBe('sh\n-c');
    expect(containerFrom(values, container)).toEqual(container);
  });

  it('the container form reads one entry per line', () => {
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

  it('the container form validates image names and maps server errors to fields', () => {
    expect(['alpine', 'registry.example:5000/a/b@sha256:0f'].every(isImage)).toBe(true);
    expect(['', '--privileged', 'a b'].some(isImage)).toBe(false);
    expect(containerFieldOf('args')).toBe('container_args');
    expect(containerFieldOf(undefined)).toBe('container_image');
  });
});

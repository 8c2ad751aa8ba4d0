// The container of a job on its page, as rows of a list of facts.
import '../form/texts.en';
import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import type { Job } from '../../../api/types';

const Mono = ({ text }: { text: string }) => <span className="mono">{text}</span>;

export function containerFacts(
  container: NonNullable<Job['container']>,
  t: TFunction,
): (readonly [string, ReactNode])[] {
  const { image, command, args, network, read_only, user, pull } = container;
  return [
    [t('form.container_image'), <Mono key="i" text={image} />],
    ...(command?.length
      ? [[t('form.container_command'), <Mono key="c" text={command.join(' ')} />] as const]
      : []),
    ...(args?.length ? [[t('form.container_args'), <Mono key="a" text={args.join(' ')} />] as const] : []),
    [t('form.container_network'), t(`option.container_network.${network ?? 'bridge'}`)],
    [t('form.container_pull'), t(`option.container_pull.${pull ?? 'missing'}`)],
    ...(user ? [[t('form.container_user'), <Mono key="u" text={user} />] as const] : []),
    ...(read_only ? [[t('form.container_read_only'), t('form.enabled')] as const] : []),
  ];
}

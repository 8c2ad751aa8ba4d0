// Describes a job's notification settings in words.
import './texts.en';
import '../form/texts.en';
import { useConfig } from '../../../api/queries';
import type { Notify } from '../../../api/types';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { span } from '../../../lib/format';
import { usePreferences } from '../../../lib/preferences';
import { notificationSettingsOf } from '../form/notifications_values';

export interface NotificationText {
  what: string;
  cluster: boolean; // true: the cluster's setting applies, and `what` does not show it
  whom: string;
}

export function useNotificationText(notify: Notify): NotificationText {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const { language } = usePreferences();
  const telling = notificationSettingsOf(notify, useConfig().data?.data.settings);
  const join = (words: string[]) => new Intl.ListFormat(language, { type: 'conjunction' }).format(words);
  const kindText = (kind: string) =>
    kind === 'late' && telling.lateAfterS !== null
      ? t('tell.late_after', { span: span(telling.lateAfterS * 1000, language) })
      : textOr('notice.', kind);
  const channelText = (channel: string) =>
    channel === 'mail' ? t('tell.mail_to', { addresses: join(telling.mailTo) }) : textOr('channel.', channel);
  return {
    what:
      telling.kinds === null
        ? t('option.tell.cluster')
        : telling.kinds.length === 0
          ? t('option.tell.none')
          : join(telling.kinds.map(kindText)),
    cluster: !telling.own && telling.kinds !== null,
    whom:
      telling.kinds?.length === 0
        ? ''
        : telling.channels === null
          ? telling.mailTo.length > 0
            ? channelText('mail')
            : ''
          : telling.channels.length === 0
            ? t('tell.nobody')
            : join(telling.channels.map(channelText)),
  };
}

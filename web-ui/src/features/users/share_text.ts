// A share in words.
import './texts.en';
import type { Share } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { EVERYWHERE } from './share_values';

export function useShareText(): (share: Share) => string {
  const { t } = useTranslation();
  return ({ namespace, selector }) => {
    if (!selector) return t('shares.whole', { namespace });
    return namespace === EVERYWHERE
      ? t('shares.selected_anywhere', { selector })
      : t('shares.selected', { namespace, selector });
  };
}

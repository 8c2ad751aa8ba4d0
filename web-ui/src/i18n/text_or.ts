// Text for a value of an API enumeration. A value without a text, from a newer server, is shown unchanged.
import { useTranslation } from './use_translation';

export function useTextOr(): (prefix: string, code: string | null | undefined) => string {
  const { t, i18n } = useTranslation();
  return (prefix, code) => {
    if (!code) return '';
    const key = prefix + code;
    return i18n.exists(key) ? t(key) : code;
  };
}

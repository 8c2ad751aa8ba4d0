// Returns the text for a value of an API enumeration. If there is no text, because only a newer server knows
// the value, returns the value unchanged.
import { useTranslation } from './use_translation';

export function useTextOr(): (prefix: string, code: string | null | undefined) => string {
  const { t, i18n } = useTranslation();
  return (prefix, code) => {
    if (!code) return '';
    const key = prefix + code;
    return i18n.exists(key) ? t(key) : code;
  };
}

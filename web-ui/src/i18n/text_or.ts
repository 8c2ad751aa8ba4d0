// Enumerations of the API may grow: what the catalogue does not know is shown as it came.
import { useTranslation } from './use_translation';

export function useTextOr(): (prefix: string, code: string | null | undefined) => string {
  const { t, i18n } = useTranslation();
  return (prefix, code) => {
    if (!code) return '';
    const key = prefix + code;
    return i18n.exists(key) ? t(key) : code;
  };
}

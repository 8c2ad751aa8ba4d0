// The mistakes of a YAML text in words, for the list above its field.
import '../../code/texts.en';
import '../form/texts.en';
import type { Mistake } from '../../code/code_field';
import { useTranslation } from '../../../i18n/use_translation';
import type { YamlText } from '../../code/yaml_text';
import { unquotedIn } from './yaml_hint';

// A value without the quotes that it needs is named; it is what the library stumbles over.
export function useYamlMistakes(): (text: string, read: YamlText) => Mistake[] {
  const { t, i18n } = useTranslation();
  return (text, read) => {
    if (read.mistakes.length === 0) return [];
    const unquoted = unquotedIn(text);
    if (unquoted) return [{ line: unquoted.line, text: t('code.quote', { quoted: unquoted.quoted }) }];
    return read.mistakes.map(({ line, code }) => {
      const key = 'yaml.' + code;
      return { line, text: i18n.exists(key) ? t(key) : t('code.bad_yaml') };
    });
  };
}

// Adds the texts of the later pages. A page that uses them imports this module: it brings the English texts, and the
// Chinese ones are loaded with the language.
import { addEnglish } from '../index';
import { enMore } from './en';

addEnglish(enMore);

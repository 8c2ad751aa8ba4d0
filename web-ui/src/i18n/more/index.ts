// Puts the texts of the later pages beside those of the first one. A page that has some imports this, so that
// they come with it: English by the import, Chinese by the switch of the language.
import { addEnglish } from '../index';
import { enMore } from './en';

addEnglish(enMore);

// Texts that few pages and dialogs use. They are loaded with those, so other pages do not pay for them.
import { addEnglish } from '../index';
import { enSeldom } from './en';

addEnglish(enSeldom);

// The texts of what is seldom opened: they come with the dialog or the page that says them, and with nothing else.
import { addEnglish } from '../index';
import { enSeldom } from './en';

export type SeldomCatalogue = Record<keyof typeof enSeldom, string>;

addEnglish(enSeldom);

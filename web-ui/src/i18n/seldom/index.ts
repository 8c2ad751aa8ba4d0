// The texts that few pages and dialogs say: they come with those, and weigh on nothing else.
import { addEnglish } from '../index';
import { enSeldom } from './en';

addEnglish(enSeldom);

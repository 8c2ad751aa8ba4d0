// Puts the texts of the dependencies beside the others; only the page of the system has them.
import { addEnglish } from '../index';
import { enOutages } from './en';

addEnglish(enOutages);

// Adds the texts of the dependencies, which only the system page uses.
import { addEnglish } from '../index';
import { enOutages } from './en';

addEnglish(enOutages);

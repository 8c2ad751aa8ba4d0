// The first module that runs (see auth/opening).
import { askEarly } from './auth/opening';

askEarly();

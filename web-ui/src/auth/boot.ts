// The first module that runs (see bootstrap_requests).
import { askEarly } from './bootstrap_requests';

askEarly();

// The first module that runs: it sends the first requests before other modules are loaded.
import { askEarly } from './bootstrap_requests';

askEarly();

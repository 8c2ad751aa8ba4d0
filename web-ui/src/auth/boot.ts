// The first module that runs. It sends the first requests before other modules are loaded.
import { askEarly } from './bootstrap_requests';

askEarly();

export { notify } from './notices.ts';

export { themeEvents } from './contract.ts';

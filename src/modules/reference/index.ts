export { arrangeList, isDealerCode } from './commands.ts';

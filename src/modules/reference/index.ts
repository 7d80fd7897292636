export { arrangeList, isDealerCode, wrongCodes } from './commands.ts';

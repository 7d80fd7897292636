export { arrangeList, checkDealerCodes, isDealerCode } from './commands.ts';

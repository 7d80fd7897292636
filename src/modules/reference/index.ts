export { arrangeList, checkDealerCodes, getReferenceList, isDealerCode } from './commands.ts';

export type { PurchaseOrder } from './commands.ts';
export { cancelPurchaseOrder, createPurchaseOrder, erasePurchaseOrders, receivePurchaseOrder } from './commands.ts';
export type { NewPurchaseOrder } from './contract.ts';
